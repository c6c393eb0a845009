"""The authorization endpoint answers with a code: where, to whom, and for what."""

from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt
import pytest

from tests.support.authorize import (
    CODE,
    WITH_CODE,
    Refusal,
    find_code,
    find_refusal,
    interaction_at,
    next_page,
    sent_back,
)
from tests.support.cast import signed_in


class TestSuccess:
    def test_case_A15_sends_code_state_and_issuer_and_nothing_else(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client)

        said = sent_back(answer, client)
        assert said.keys() == WITH_CODE
        assert CODE.fullmatch(said["code"])
        assert answer.headers["Cache-Control"] == "no-store"

    def test_the_code_buys_tokens_for_the_person_who_is_signed_in(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        tokens = client.redeem(find_code(browser.authorize(client), client)).json()

        assert jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"] == str(user.pk)

    def test_of_a_link_on_another_site_is_answered_at_once(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.get(
            "/oidc/authorize", params=client.request(), headers={"Sec-Fetch-Site": "cross-site"}
        )

        assert sent_back(answer, client).keys() == WITH_CODE

    def test_needs_no_state_and_then_echoes_none(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, state=None)

        assert sent_back(answer, client).keys() == {"code", "iss"}

    def test_keeps_the_query_that_a_redirect_uri_was_registered_with(self, acme):
        client = acme.application(redirect_uris=["https://rp.example/callback?tenant=7&next=%2Fhome"])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client)

        assert answer.headers["Location"].startswith(
            "https://rp.example/callback?tenant=7&next=%2Fhome&code="
        )
        assert sent_back(answer, client).keys() == {"tenant", "next", "code", "state", "iss"}

    @pytest.mark.parametrize("parameter", ["foo", "code", "error", "user_id", "csrfmiddlewaretoken", "next"])
    def test_ignores_parameters_it_does_not_know(self, insider, parameter):
        answer = insider.authorize(**{parameter: "https://evil.example/"})

        said = sent_back(answer, insider.client)
        assert said.keys() == WITH_CODE
        assert said["code"] != "https://evil.example/"

    def test_ignores_a_repeated_parameter_it_does_not_know(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.get(
            "/oidc/authorize", params=[*client.request().items(), ("foo", "1"), ("foo", "2")]
        )

        assert sent_back(answer, client).keys() == WITH_CODE

    @pytest.mark.parametrize(
        ("parameter", "value"),
        [
            ("display", "popup"),
            ("display", "wall"),
            ("acr_values", "urn:mace:incommon:iap:silver"),
            ("claims_locales", "de fr"),
            ("ui_locales", "tlh-KX " * 1000),
            ("login_hint", "<b>somebody</b>"),
        ],
    )
    def test_decision_O9_accepts_what_it_may_ignore(self, insider, parameter, value):
        answer = insider.authorize(**{parameter: value})

        assert sent_back(answer, insider.client).keys() == WITH_CODE

    @pytest.mark.parametrize(
        "name", ["max_age", "request", "request_uri", "response_mode", "prompt", "claims"]
    )
    def test_takes_a_parameter_without_a_value_as_left_out(self, insider, name):
        """RFC 6749 section 3.1."""
        answer = insider.authorize(**{name: ""})

        assert sent_back(answer, insider.client).keys() == WITH_CODE

    def test_no_script_of_another_origin_may_read_it(self, insider):
        """Discovery 1.0 section 3: CORS is not recommended here, for browsers go here themselves."""
        origin = {"Origin": "https://rp.example", "Cookie": insider.cookie}
        url = f"{insider.client.world.address}/oidc/authorize"

        answer = httpx.get(url, params=insider.client.request(), headers=origin)
        preflight = httpx.options(url, headers=origin | {"Access-Control-Request-Method": "POST"})

        assert sent_back(answer, insider.client).keys() == WITH_CODE
        for one in (answer, preflight):
            assert not [name for name in one.headers if name.startswith("access-control-")]

    @pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
    def test_takes_no_other_method(self, acme, method):
        answer = httpx.request(method, f"{acme.address}/oidc/authorize", params=acme.application().request())

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, POST"

    def test_case_G07_does_not_take_the_session_of_another_tenant(self, acme, rival):
        client = acme.application()
        stranger, _ = signed_in(rival)
        token = stranger.http.cookies[f"gatehouse-session.{rival.tenant.slug}"]

        for tenant in (acme, rival):
            cookie = f"gatehouse-session.{tenant.tenant.slug}={token}"
            answer = acme.get("/oidc/authorize", params=client.request(), headers={"Cookie": cookie})
            assert next_page(answer, acme).name == "sign-in"

    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "evil.example"},
            {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"},
            {"Forwarded": "host=evil.example;proto=https"},
            {"Script-Name": "/t/default"},
        ],
    )
    def test_decision_T1_no_header_changes_issuer_or_page(self, acme, headers):
        client = acme.application()

        page = acme.get("/oidc/authorize", params=client.request(), headers=headers)
        refusal = acme.get("/oidc/authorize", params=client.request(prompt="none"), headers=headers)

        assert next_page(page, acme).name == "sign-in"
        assert find_refusal(refusal, client) == Refusal("login_required")


class TestResponseMode:
    def test_case_A14_fragment_puts_nothing_into_the_query(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="fragment")

        parts = urlsplit(answer.headers["Location"])
        assert parts.query == ""
        assert dict(parse_qsl(parts.fragment)).keys() == {"code", "state", "iss"}

    def test_case_A14_query_is_the_default(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        said = browser.authorize(client, response_mode="query")
        unsaid = browser.authorize(client)

        assert sent_back(said, client).keys() == WITH_CODE
        assert sent_back(unsaid, client).keys() == WITH_CODE

    def test_survives_the_wait_at_the_sign_in_page(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client, response_mode="fragment"), acme)

        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert "#code=" in browser.get(onward).headers["Location"]
