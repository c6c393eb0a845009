"""OAuth 2.0 Form Post Response Mode: a page whose form takes the answer to the application."""

from urllib.parse import urlencode

import httpx
import pytest

from tests.support.authorize import (
    ErrorPage,
    Refusal,
    find_error_page,
    find_refusal,
    interaction_at,
    sent_back,
)
from tests.support.cast import CALLBACK, RelyingParty, query_of, signed_in
from tests.support.forms import form
from tests.support.pages import followed, opened, typed


def sources(answer: httpx.Response) -> list[str]:
    """Return where the page's policy lets forms lead."""
    rules = answer.headers["Content-Security-Policy"].split("; ")
    return next(rule.split()[1:] for rule in rules if rule.startswith("form-action"))


def posted_by(answer: httpx.Response, client: RelyingParty, uri: str = CALLBACK) -> dict[str, str]:
    """Return what a page's only form sends to the redirect URI, or else what the answer is."""
    is_page = answer.status_code == 200 and "Location" not in answer.headers
    headers = (answer.headers.get("Cache-Control"), answer.headers.get("X-Frame-Options"))
    if is_page and headers == ("no-store", "DENY"):
        found = form(answer)
        is_own = (found.action, found.method, found.buttons) == (uri, "post", [("", "")])
        is_hidden = set(found.types.values()) == {"hidden"}
        if is_own and is_hidden and found.fields.get("iss") == client.world.issuer:
            return found.fields
    return {"not posted": f"{answer.status_code} {answer.headers} {answer.text}"}


class TestP16:
    def test_decision_P16_posts_code_state_and_issuer_and_nothing_else(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="form_post")

        said = posted_by(answer, client)
        assert said.keys() == {"code", "state", "iss"}
        assert said["state"] == "af0ifjsldkj"
        assert sources(answer) == [CALLBACK]
        assert client.redeem(said["code"]).json()["id_token"]
        assert said["code"] not in answer.headers.get("Set-Cookie", "")

    def test_decision_P16_without_state_posts_none(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="form_post", state=None)

        assert posted_by(answer, client).keys() == {"code", "iss"}

    def test_decision_P16_with_a_posted_request_and_with_prompt_none(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        request = client.request(response_mode="form_post", prompt="none")

        posted = browser.post("/oidc/authorize", data=request)
        got = browser.get(f"/oidc/authorize?{urlencode(request)}")

        assert "code" in posted_by(posted, client)
        assert "code" in posted_by(got, client)

    def test_decision_P16_after_the_sign_in(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        page = opened(browser, client, response_mode="form_post")

        answer = followed(browser, form(page).submit(browser, **typed(user)))

        assert client.redeem(posted_by(answer, client)["code"]).status_code == 200

    def test_decision_P16_after_a_sign_in_by_json(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client, response_mode="form_post"), acme)

        result = browser.sign_in(user, interaction=interaction).json()["result"]
        answer = browser.get(result["redirect_to"])

        assert client.redeem(posted_by(answer, client)["code"]).status_code == 200

    def test_decision_P16_after_consent_and_after_a_refusal(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)

        refused = form(opened(browser, client, response_mode="form_post")).submit(browser, choice="deny")
        allowed = form(opened(browser, client, response_mode="form_post")).submit(browser, choice="allow")

        said = posted_by(refused, client)
        assert (said["error"], said["state"]) == ("access_denied", "af0ifjsldkj")
        assert said.keys() == {"error", "error_description", "state", "iss"}
        assert sources(refused) == [CALLBACK]
        assert client.redeem(posted_by(followed(browser, allowed), client)["code"]).status_code == 200

    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"prompt": "none"}, "login_required"),
            ({"scope": "email"}, "invalid_scope"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"request": "e30."}, "request_not_supported"),
            ({"nonce": "n" * 16_400}, "invalid_request"),
            ({"resource": "https://unknown.example"}, "invalid_target"),
        ],
    )
    def test_decision_P16_posts_errors_too(self, acme, wrong, error):
        client = acme.application()

        answer = acme.browser().post(
            "/oidc/authorize", data=client.request(response_mode="form_post", **wrong)
        )

        said = posted_by(answer, client)
        assert said.keys() == {"error", "error_description", "state", "iss"}
        assert said["error"] == error
        assert sources(answer) == [CALLBACK]

    @pytest.mark.parametrize(
        "wrong", [{"client_id": "unknown"}, {"redirect_uri": "https://evil.example/cb"}, {"redirect_uri": ""}]
    )
    def test_decision_P16_an_unregistered_address_is_an_error_page(self, acme, wrong):
        answer = acme.browser().authorize(acme.application(), response_mode="form_post", **wrong)

        assert find_error_page(answer) == ErrorPage()
        assert "evil.example" not in answer.text

    def test_decision_P16_of_another_tenant_is_an_error_page(self, acme, rival):
        browser, _ = signed_in(acme)

        answer = browser.authorize(rival.application(), response_mode="form_post")

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize(
        "state",
        [
            '"><script>alert(1)</script>',
            "'\"></form><form action=https://evil.example><button>",
            "</title><img src=x onerror=alert(1)>",
            "&lt;&#34;&amp;",
            "{{7*7}}{% load x %}",
            "ünïcödé \U0001d4b3 \u202e",
            "",
        ],
    )
    def test_decision_P16_reflects_nothing_unescaped(self, acme, state):
        client = acme.application(redirect_uris=["https://rp.example/it's?a=b&x=%22"])
        browser, _ = signed_in(acme)
        uri = client.application.redirect_uris[0]

        for answer in (
            browser.authorize(client, response_mode="form_post", state=state),
            browser.authorize(client, response_mode="form_post", state=state, scope="email"),
        ):
            assert posted_by(answer, client, uri)["state"] == state
            assert "<script>" not in answer.text
            assert "<img" not in answer.text
            assert answer.text.count("<form") == 1

    @pytest.mark.parametrize(
        ("kind", "uri", "source"),
        [
            ("Traditional", "https://rp.example", "https://rp.example"),
            ("Traditional", "https://rp.example:8443/a/b?c=d;e,f", "https://rp.example:8443/a/b"),
            ("Traditional", "https://rp.example/a;b,c/", "https://rp.example/a%3Bb%2Cc/"),
            ("Traditional", "http://localhost:3000/cb", "http://localhost:3000/cb"),
            ("Native", "http://[::1]/cb", "http:"),
        ],
    )
    def test_decision_P16_the_form_may_lead_to_that_address_only(self, acme, kind, uri, source):
        client = acme.application(kind, redirect_uris=[uri])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="form_post")

        assert "iss" in posted_by(answer, client, uri)
        assert sources(answer) == [source]

    def test_decision_P16_a_private_scheme_takes_no_form(self, acme):
        client = acme.application("Native", redirect_uris=["com.example.app:/cb"])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="form_post")

        assert answer.headers["Location"].startswith("com.example.app:/cb?")
        said = query_of(answer.headers["Location"])
        assert (said["error"], said["state"]) == ("invalid_request", "af0ifjsldkj")
        assert "response_mode" in said["error_description"]

    def test_decision_P16_a_reloaded_answer_is_not_given_twice(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        answer = form(opened(browser, client, response_mode="form_post")).submit(browser, choice="allow")
        onward = answer.headers["Location"]

        first, second = browser.get(onward), browser.get(onward)

        assert "code" in posted_by(first, client)
        assert second.status_code == 400
        assert "This sign-in has expired" in second.text

    def test_decision_P16_the_page_speaks_the_language_of_the_journey(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        page = opened(browser, client, response_mode="form_post", ui_locales="ar")

        answer = followed(browser, form(page).submit(browser, **typed(user)))

        assert "iss" in posted_by(answer, client)
        assert '<html lang="ar" dir="rtl">' in answer.text
        assert "<bdi>rp.example</bdi>" in answer.text

    def test_decision_P16_the_page_speaks_the_language_that_the_person_chose(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        asked = browser.authorize(client, response_mode="form_post", ui_locales="de")
        interaction = interaction_at("sign-in", asked, acme)
        browser.get(f"/sign-in?interaction={interaction}&ui_locales=ar")

        answer = browser.get(browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"])

        assert "iss" in posted_by(answer, client)
        assert '<html lang="ar" dir="rtl">' in answer.text

    @pytest.mark.parametrize("mode", ["form_post ", "FORM_POST", "form_post.jwt", "form_post,query"])
    def test_decision_P16_nothing_like_it_is_taken_for_it(self, acme, mode):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode=mode)

        assert find_refusal(answer, client) == Refusal("invalid_request")
        assert "form_post" in sent_back(answer, client)["error_description"]
