"""The modules of oidcc-basic-certification-test-plan: discovery, static clients, ``code``. One test each."""

import json
import secrets
from typing import Any

import pytest

from tests.conformance import checks
from tests.conformance.suite import Suite
from tests.support.cast import s256
from tests.support.forgery import unsigned

everywhere = pytest.mark.parametrize("agent", ["scripted", "chromium"], indirect=True)

SIGN_IN = "Sign in"


def test_oidcc_server(suite: Suite) -> None:
    login = suite.login()

    suite.verdict.should("name" not in login.claims, "name in the ID token")
    strangers = sorted(login.claims.keys() - checks.REGISTERED_CLAIMS)
    suite.verdict.should(not strangers, f"unasked in the ID token: {', '.join(strangers)}")


def test_oidcc_response_type_missing(suite: Suite) -> None:
    request = suite.request(suite.client(), response_type=None)

    stop = suite.ask(request)

    if stop.address.startswith(suite.callback):
        suite.refusal(stop, request, "invalid_request", "unsupported_response_type")
    else:
        suite.error_page(stop)


def test_oidcc_userinfo_get(suite: Suite) -> None:
    login = suite.login(scope="openid profile")

    suite.verdict.must("updated_at" in login.userinfo, "userinfo has no updated_at")


def test_oidcc_userinfo_post_header(suite: Suite) -> None:
    login = suite.login()

    said = suite.userinfo(login.tokens["access_token"], "POST")

    suite.verdict.must(said == login.userinfo, "POST says something else than GET")


def test_oidcc_userinfo_post_body(suite: Suite) -> None:
    login = suite.login()
    token = login.tokens["access_token"]

    answer = suite.http.post(suite.discovery["userinfo_endpoint"], data={"access_token": token})

    suite.verdict.should(answer.is_success, f"a token in the body is answered with {answer.status_code}")
    if answer.is_success:
        suite.verdict.must(answer.json() == login.userinfo, "POST says something else than GET")


def test_oidcc_ensure_request_without_nonce_succeeds_for_code_flow(suite: Suite) -> None:
    login = suite.login(nonce=None)

    suite.verdict.must("nonce" not in login.claims, "a nonce that nobody sent")


def test_oidcc_scope_profile(suite: Suite) -> None:
    login = suite.login(scope="openid profile")

    missing = [name for name in checks.PROFILE_CLAIMS if name not in login.userinfo]
    suite.verdict.should(not missing, f"missing at userinfo: {', '.join(missing)}")


def released(suite: Suite, scope: str, *names: str) -> None:
    """Sign in for one scope and look where its claims are, and whether others came along."""
    login = suite.login(scope=scope)
    missing = [name for name in names if name not in login.userinfo]
    suite.verdict.should(not missing, f"missing at userinfo: {', '.join(missing)}")
    suite.verdict.should("name" not in login.userinfo, "unasked at userinfo: name")
    early = [name for name in (*names, "name") if name in login.claims]
    suite.verdict.should(not early, f"in the ID token already: {', '.join(early)}")


def test_oidcc_scope_email(suite: Suite) -> None:
    released(suite, "openid email", "email", "email_verified")


def test_oidcc_scope_address(suite: Suite) -> None:
    if "address" not in suite.discovery["scopes_supported"]:
        suite.verdict.skip("address is not in scopes_supported")
    released(suite, "openid address", "address")


def test_oidcc_scope_phone(suite: Suite) -> None:
    released(suite, "openid phone", "phone_number", "phone_number_verified")


def test_oidcc_scope_all(suite: Suite) -> None:
    wanted = {"profile", "email", "address", "phone"}
    if missing := sorted(wanted - set(suite.discovery["scopes_supported"])):
        suite.verdict.skip(f"{', '.join(missing)} is not in scopes_supported")
    login = suite.login(scope="openid profile email address phone")
    absent = sorted(checks.STANDARD_CLAIMS.keys() - login.userinfo.keys())
    suite.verdict.should(not absent, f"missing at userinfo: {', '.join(absent)}")


def test_oidcc_alternate_happy_flow(suite: Suite) -> None:
    client = suite.client()
    request = dict(reversed(suite.request(client, scope="email openid").items()))

    login = suite.redeemed(client, suite.code(suite.ask(request), request), request)

    suite.verdict.should("email" in login.userinfo, "missing at userinfo: email")
    early = [name for name in ("email", "email_verified") if name in login.claims]
    suite.verdict.should(not early, f"in the ID token already: {', '.join(early)}")


def test_oidcc_display_page(suite: Suite) -> None:
    suite.login(display="page")


def test_oidcc_display_popup(suite: Suite) -> None:
    suite.login(display="popup")


@everywhere
def test_oidcc_prompt_login(suite: Suite) -> None:
    first = suite.login()
    suite.clock.wait(1)

    second = suite.login(prompt="login")

    suite.verdict.must(SIGN_IN in suite.agent.done, "nobody was asked to sign in again")
    suite.pictured()
    suite.verdict.must(second.claims["sub"] == first.claims["sub"], "sub is somebody else")
    if "auth_time" in first.claims:
        before = suite.then(first, "auth_time")
        suite.verdict.must(second.claims["auth_time"] > before, "auth_time is the first sign-in's")


def test_oidcc_prompt_none_not_logged_in(suite: Suite) -> None:
    request = suite.request(suite.client(), prompt="none")

    stop = suite.ask(request)

    errors = ("login_required", "interaction_required", "consent_required", "account_selection_required")
    suite.refusal(stop, request, *errors)


def the_same_person_silently(suite: Suite, second_request: dict[str, Any], **changes: Any) -> None:
    """Sign in, then again with other parameters: no page may appear, and the sign-in is the first one."""
    first = suite.login(**changes)
    if "id_token_hint" in second_request:
        second_request["id_token_hint"] = first.hint

    second = suite.login(**second_request)

    suite.verdict.must(SIGN_IN not in suite.agent.done, "somebody was asked to sign in again")
    suite.verdict.must(second.claims["sub"] == first.claims["sub"], "sub is somebody else")
    times = first.claims.get("auth_time"), second.claims.get("auth_time")
    suite.verdict.must(times[0] == times[1], f"auth_time was {times[0]} and is {times[1]}")
    if "max_age" in changes:
        suite.verdict.must(None not in times, "max_age was asked for, and there is no auth_time")


@everywhere
def test_oidcc_prompt_none_logged_in(suite: Suite) -> None:
    the_same_person_silently(suite, {"prompt": "none"})


def test_oidcc_max_age_1(suite: Suite) -> None:
    first = suite.login()
    suite.clock.wait(2)

    second = suite.login(max_age="1")

    suite.verdict.must(SIGN_IN in suite.agent.done, "nobody was asked to sign in again")
    suite.pictured()
    suite.verdict.must("auth_time" in second.claims, "max_age was asked for, and there is no auth_time")
    before = suite.then(first, "auth_time")
    suite.verdict.must(second.claims["auth_time"] > before, "auth_time is the first sign-in's")
    suite.verdict.must(abs(second.claims["iat"] - second.claims["auth_time"]) < 60, "auth_time is long ago")
    suite.verdict.must(second.claims["sub"] == first.claims["sub"], "sub is somebody else")


def test_oidcc_max_age_10000(suite: Suite) -> None:
    the_same_person_silently(suite, {"max_age": "10000"}, max_age="15000")


def test_oidcc_ensure_request_with_unknown_parameter_succeeds(suite: Suite) -> None:
    suite.login(extra="foobar")


def test_oidcc_id_token_hint(suite: Suite) -> None:
    the_same_person_silently(suite, {"prompt": "none", "id_token_hint": "of the first"})


def test_oidcc_login_hint(suite: Suite) -> None:
    host = suite.issuer.partition("//")[2].partition("/")[0].partition(":")[0]

    suite.login(login_hint=suite.config["server"].get("login_hint", f"buffy@{host}"))


def test_oidcc_ui_locales(suite: Suite) -> None:
    suite.login(ui_locales=suite.config["server"].get("ui_locales", "se"))


def test_oidcc_claims_locales(suite: Suite) -> None:
    suite.login(claims_locales=suite.config["server"].get("claims_locales", "se"))


def test_oidcc_ensure_request_with_acr_values_succeeds(suite: Suite) -> None:
    assert {"1", "2"} <= {*suite.discovery["acr_values_supported"]}  # what it asks for without this list
    for wanted in (suite.discovery["acr_values_supported"], ["1", "2"]):
        login = suite.login(acr_values=" ".join(wanted))

        suite.verdict.should("acr" in login.claims, "no acr in the ID token")
        suite.verdict.should(login.claims.get("acr", wanted[0]) in wanted, "acr is none that was asked for")


def test_oidcc_codereuse(suite: Suite) -> None:
    login = suite.login()

    again = suite.redeem(login.client, login.code)

    suite.token_error(again, "invalid_grant")


def test_oidcc_codereuse_30seconds(suite: Suite) -> None:
    login = suite.login()
    suite.clock.wait(30)

    again = suite.redeem(login.client, login.code)

    suite.token_error(again, "invalid_grant")
    bearer = {"Authorization": f"Bearer {login.tokens['access_token']}"}
    asked = suite.http.get(suite.discovery["userinfo_endpoint"], headers=bearer)
    suite.verdict.should(asked.is_client_error, "the access token of a code that was used twice still works")


def test_oidcc_ensure_registered_redirect_uri(suite: Suite) -> None:
    elsewhere = f"{suite.callback}/{secrets.token_hex(5)}"

    suite.error_page(suite.ask(suite.request(suite.client(), redirect_uri=elsewhere)))


@everywhere
def test_oidcc_ensure_post_request_succeeds(suite: Suite) -> None:
    suite.login(posted=True)


def test_oidcc_server_client_secret_post(suite: Suite) -> None:
    suite.login(suite.client("client_secret_post"))


def request_object(suite: Suite, **claims: str) -> str:
    """An authorization request as a JWT that nobody signed (OpenID Connect Core 6.1)."""
    return f"{unsigned({'alg': 'none'}, {'aud': suite.issuer, **claims})}."


def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(suite: Suite) -> None:
    algorithms = suite.discovery.get("request_object_signing_alg_values_supported", ["none"])
    if "none" not in algorithms:
        suite.verdict.skip("unsigned request objects are not announced")
    client = suite.client()
    request = suite.request(client)
    inside = request_object(suite, **request)
    outside = {name: request[name] for name in ("client_id", "redirect_uri", "scope", "response_type")}

    stop = suite.ask(outside | {"request": inside})

    suite.verdict.must(stop.address.startswith(suite.callback), f"the browser is at {stop.address}")
    if "error=" in stop.address:
        # Its state was in the object alone, which was not read.
        suite.refusal(stop, outside, "request_not_supported")
        suite.verdict.skip("request_not_supported")
    suite.redeemed(client, suite.code(stop, request), request)


def test_oidcc_claims_essential(suite: Suite) -> None:
    login = suite.login(claims=json.dumps({"userinfo": {"name": {"essential": True}}}))

    suite.verdict.should("name" in login.userinfo, "missing at userinfo: name")
    suite.verdict.should("name" not in login.claims, "in the ID token: name")


def test_oidcc_ensure_request_object_with_redirect_uri(suite: Suite) -> None:
    request = suite.request(suite.client())
    inside = request_object(suite, **request)

    stop = suite.ask(request | {"redirect_uri": f"{suite.callback}_invalid", "request": inside})

    suite.error_page(stop)


def test_oidcc_refresh_token(suite: Suite) -> None:
    offered = suite.discovery.get("grant_types_supported", [])
    suite.verdict.should("refresh_token" in offered, "grant_types_supported lacks refresh_token")
    held = []
    for block, narrowed in (("client", {"scope": "openid offline_access"}), ("client2", {})):
        client = suite.client(block)
        first = suite.login(client, scope="openid offline_access", prompt="consent")
        token = str(first.tokens.get("refresh_token", ""))
        checks.unguessable(token, "refresh token", suite.verdict)
        suite.clock.wait(1)

        form = {"grant_type": "refresh_token", "refresh_token": token}
        renewed = suite.tokens(suite.token(client, form | narrowed))

        nonce = checks.verified(renewed["id_token"], suite.keys, suite.verdict).get("nonce")
        suite.verdict.must(nonce in (None, first.claims["nonce"]), "a nonce of its own")
        second = suite.claims(renewed, client, nonce)
        suite.verdict.must(renewed["access_token"] != first.tokens["access_token"], "the same access token")
        for name in ("iss", "sub", "aud", "azp"):
            suite.verdict.must(second.get(name) == first.claims.get(name), f"{name} has changed")
        if "auth_time" in second:
            then = suite.then(first, "auth_time")
            suite.verdict.must(second["auth_time"] == then, "auth_time has changed")
        suite.verdict.must(second["iat"] > suite.then(first, "iat"), "iat is not later")
        suite.userinfo(renewed["access_token"])
        held.append(renewed.get("refresh_token", token))

    foreign = {"grant_type": "refresh_token", "refresh_token": held[1]}
    suite.token_error(suite.token(suite.client(), foreign), "invalid_grant")


def test_oidcc_ensure_request_with_valid_pkce_succeeds(suite: Suite) -> None:
    verifier = secrets.token_urlsafe(32)

    suite.login(code_challenge=s256(verifier), code_challenge_method="S256", verifier=verifier)
