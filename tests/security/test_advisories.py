"""What went wrong in systems like this one, each named by its advisory, tried here from outside."""

import hmac
import json
import logging
from urllib.parse import urlencode

import pytest
from django.test import Client

from oidc.grants.models import RefreshFamily
from tests.support.cast import PASSWORD, query_of
from tests.support.forgery import encode, unsigned
from tests.support.independent import bearer, claims_of, header_of, key_set
from tests.support.statement_costs import Inside, cost, refreshed

INTERACTION = (
    *("sign-in", "register", "verification-code", "verify-code"),
    "forgot-password",
)


def is_no_grant(answer) -> bool:
    return (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


class TestLog:
    def test_toolkit_1735_case_K06_says_no_secret_even_at_debug(self, acme, caplog):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        codes = [browser.code_for(client, user) for _ in range(2)]
        inside = Inside(acme)
        form = {"client_id": client.client_id, "client_secret": client.secret}
        code = {"redirect_uri": client.application.redirect_uris[0], "code_verifier": client.verifier}

        with caplog.at_level(logging.DEBUG):
            tokens = inside.post(
                "/oidc/token", form | code | {"grant_type": "authorization_code", "code": codes[0]}
            ).json()
            inside.post(
                "/oidc/token", form | code | {"grant_type": "authorization_code", "code": codes[1][:-1]}
            )
            again = inside.post("/oidc/token", refreshed(client, tokens["refresh_token"])).json()
            inside.post("/oidc/token", refreshed(client, f"{again['refresh_token']}x"))
            inside.post("/oidc/token", form | {"grant_type": "client_credentials"})
            inside.get("/oidc/userinfo", headers=bearer(again["access_token"]))
            inside.get("/oidc/authorize", data=client.request(prompt="none"))
            inside.send("/api/interaction/sign-in", {"identifier": user.username, "password": PASSWORD})
            inside.post("/oidc/revoke", form | {"token": again["refresh_token"]})

        names = ("access_token", "refresh_token", "id_token")
        secrets = [*(said[name] for said in (tokens, again) for name in names), codes[0], codes[1][:-1]]
        for secret in (*secrets, client.secret, client.verifier, PASSWORD):
            assert secret not in caplog.text


class TestText:
    """CVE-2026-27840: a text that was cut, lengthened or written otherwise was as good as the whole."""

    def test_of_a_code_counts_to_the_last_letter(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        last = "A" if code[-1] != "A" else "B"
        others = (code[:-1], code[1:], f"{code}A", f"{code}=", f" {code}", code.swapcase(), code[:-1] + last)

        answers = [client.redeem(text) for text in others]

        assert all(is_no_grant(answer) for answer in answers)
        assert client.redeem(code).status_code == 200

    def test_of_a_refresh_token_counts_to_the_last_letter(self, acme):
        client = acme.application()
        token = client.tokens_for(acme.user())["refresh_token"]
        others = (
            token[:-1],
            token[:-5],
            token[1:],
            f"{token}A",
            f"{token}=",
            token.upper(),
            token.swapcase(),
        )

        answers = [client.refresh(text) for text in others]

        assert all(is_no_grant(answer) for answer in answers)
        assert client.refresh(token).status_code == 200


class TestHint:
    """CVE-2024-37568, CVE-2017-11424: the public key was taken for a secret."""

    def test_case_F01_signed_with_the_public_key_redirects_nobody(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        hint = client.tokens_for(user, browser)["id_token"]
        [published] = key_set(acme)["keys"]

        for secret in (json.dumps(published), published["x"], ""):
            text = unsigned(header_of(hint) | {"alg": "HS256"}, claims_of(hint))
            forged = f"{text}.{encode(hmac.digest(secret.encode(), text.encode(), 'sha256'))}"
            asked = {"id_token_hint": forged, "post_logout_redirect_uri": "https://rp.example/"}

            assert "Location" not in browser.get("/oidc/end-session", params=asked).headers
        silent = browser.authorize(client, prompt="none")
        assert "code" in query_of(silent.headers["Location"]), "the session is still there"

    def test_CVE_2023_6681_case_F08_of_a_password_of_many_rounds_is_not_tried(self, acme):
        rounds = {"alg": "PBES2-HS256+A128KW", "enc": "A128GCM", "p2c": 2**31, "p2s": "AAAAAAAAAAA"}
        jwe = f"{encode(json.dumps(rounds).encode())}.{encode(bytes(24))}." + ".".join(
            encode(bytes(size)) for size in (12, 32, 16)
        )
        client, browser = acme.application(), acme.browser()

        answers = [
            client.userinfo(jwe),
            acme.get("/api/v1/users", headers=bearer(jwe)),
            acme.get("/api/session/context", headers=bearer(jwe)),
        ]

        assert [answer.status_code for answer in answers] == [401] * 3
        hinted = browser.get("/oidc/end-session", params={"id_token_hint": jwe})
        assert hinted.status_code < 500
        assert "Location" not in hinted.headers


class TestReplay:
    def test_toolkit_1809_of_a_long_family_costs_what_that_of_a_short_one_does(self, acme):
        client, user, browser, inside = acme.application(), acme.user(), acme.browser(), Inside(acme)

        def price(generations: int) -> list[tuple[int, int]]:
            first = token = client.tokens_for(user, browser)["refresh_token"]
            for _ in range(generations):
                token = inside.post("/oidc/token", refreshed(client, token)).json()["refresh_token"]
            return [cost(lambda: inside.post("/oidc/token", refreshed(client, first)), 400) for _ in range(3)]

        price(2)  # the worker knows the keys from now on

        assert price(30) == price(2)
        with acme.active():
            assert RefreshFamily.objects.filter(ended_at=None).count() == 0


class TestSteps:
    """CVE-2026-49443: an empty POST stepped over a stage."""

    @pytest.mark.parametrize("step", INTERACTION)
    @pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[]", b'""'])
    def test_with_nothing_in_it_leads_nowhere(self, acme, step, body):
        client, browser = acme.application(), acme.browser()
        browser.authorize(client)

        answer = browser.post(
            f"/api/interaction/{step}", content=body, headers={"Content-Type": "application/json"}
        )

        assert (answer.status_code, answer.json()["result"]) == (400, "")
        silent = browser.authorize(client, prompt="none")
        assert query_of(silent.headers["Location"])["error"] == "login_required"


class TestHost:
    """CVE-2026-48794, GHSA-5wcc-hf24-rf5h: a host in other letters, an address in a header."""

    @pytest.mark.parametrize("host", ["LOCALHOST", "127.0.0.1.", "EVIL.example", "evil.example:443"])
    def test_case_K01_in_any_letters_changes_nothing(self, acme, host):
        lies = {"Host": host, "X-Original-URI": "/api/admin/me", "X-Forwarded-URI": "/api/admin/me"}

        answer = acme.get("/.well-known/openid-configuration", headers=lies)
        refused = acme.get("/api/v1/users", headers=lies)

        assert answer.json()["issuer"] == acme.issuer
        assert refused.status_code == 401


def test_toolkit_1816_what_was_revoked_a_moment_ago_has_no_grace(acme):
    client = acme.application()
    first = client.tokens_for(acme.user())["refresh_token"]
    second = client.refresh(first).json()["refresh_token"]

    acme.post("/oidc/revoke", data={"token": first}, auth=client.basic)

    assert is_no_grant(client.refresh(second))
    assert is_no_grant(client.refresh(first))


@pytest.mark.parametrize("name", ["code", "refresh_token"])
def test_CVE_2026_28513_wrong_client_and_expired_are_each_enough(acme, name):
    client, thief = acme.application(), acme.application(name="Thief")
    user, browser = acme.user(), acme.browser()
    form = {
        "code": lambda: {
            "grant_type": "authorization_code",
            "code": browser.code_for(client, user),
            "redirect_uri": client.application.redirect_uris[0],
            "code_verifier": client.verifier,
        },
        "refresh_token": lambda: {
            "grant_type": "refresh_token",
            "refresh_token": client.tokens_for(user, browser)["refresh_token"],
        },
    }[name]()

    stolen = thief.token(**form)

    assert is_no_grant(stolen)
    assert client.token(**form).status_code == 200


def test_a_token_request_is_answered_by_its_form_alone(acme):
    """CVE-2026-9689: what one layer reads from the address, another from the body."""
    machine = acme.application("MachineToMachine")
    form = urlencode({"grant_type": "client_credentials"})

    answer = Client().post(
        f"/t/{acme.tenant.slug}/oidc/token?grant_type=refresh_token",
        form,
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": f"Basic {machine.client_id}"},
    )

    assert answer.status_code == 400
