"""What the authorization endpoint refuses, how it tells the application, and that state comes back."""

import re
import socket
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st

from tests.support.authorize import (
    ErrorPage,
    Refusal,
    find_code,
    find_error_page,
    find_refusal,
    interaction_at,
    named,
    parked,
    sent_back,
)
from tests.support.cast import CALLBACK, query_of, signed_in


class TestErrors:
    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"response_type": None}, "invalid_request"),
            ({"response_type": ""}, "unsupported_response_type"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"response_type": "id_token"}, "unsupported_response_type"),
            ({"response_type": "code token"}, "unsupported_response_type"),
            ({"response_type": "code id_token"}, "unsupported_response_type"),
            ({"response_type": "token code"}, "unsupported_response_type"),
            ({"response_type": "code code"}, "unsupported_response_type"),
            ({"response_type": "CODE"}, "unsupported_response_type"),
            ({"response_type": "none"}, "unsupported_response_type"),
            ({"response_type": "code "}, "unsupported_response_type"),
            ({"scope": None}, "invalid_scope"),
            ({"scope": ""}, "invalid_scope"),
            ({"scope": "profile email"}, "invalid_scope"),
            ({"scope": "OpenID"}, "invalid_scope"),
            ({"scope": "openidx xopenid"}, "invalid_scope"),
            ({"scope": "openid,profile"}, "invalid_scope"),
            ({"response_mode": "web_message"}, "invalid_request"),
            ({"response_mode": "query.jwt"}, "invalid_request"),
            ({"response_mode": "Query"}, "invalid_request"),
            ({"prompt": "none login"}, "invalid_request"),
            ({"prompt": "consent none"}, "invalid_request"),
            ({"prompt": "none foo"}, "invalid_request"),
            ({"max_age": "-1"}, "invalid_request"),
            ({"max_age": "abc"}, "invalid_request"),
            ({"max_age": "1e9"}, "invalid_request"),
            ({"max_age": "1.5"}, "invalid_request"),
            ({"max_age": " 1"}, "invalid_request"),
            ({"max_age": "٣"}, "invalid_request"),
            ({"max_age": "9" * 30}, "invalid_request"),
            ({"request": "e30.e30."}, "request_not_supported"),
            ({"request_uri": "https://rp.example/request.jwt"}, "request_uri_not_supported"),
            ({"claims": "{"}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge": ""}, "invalid_request"),
            ({"code_challenge": "a" * 42}, "invalid_request"),
            ({"code_challenge": "a" * 44}, "invalid_request"),
            ({"code_challenge": "a" * 128}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "="}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "+"}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "ä"}, "invalid_request"),
            ({"code_challenge": "a" * 43 + "\n"}, "invalid_request"),
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge_method": None}, "invalid_request"),
            ({"code_challenge_method": ""}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"code_challenge_method": "S512"}, "invalid_request"),
            ({"code_challenge_method": "s256"}, "invalid_request"),
            ({"code_challenge_method": "S256 "}, "invalid_request"),
        ],
        ids=named,
    )
    def test_case_A15_decision_O8_are_told_to_the_application_with_state_and_issuer(
        self, insider, wrong, error
    ):
        answer = insider.post(urlencode(insider.client.request(**wrong)))

        assert find_refusal(answer, insider.client) == Refusal(error)
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize("response_type", ["token", "id_token", "code token", "none", ""])
    @pytest.mark.parametrize("response_mode", [None, "query", "fragment"])
    def test_case_A13_nothing_but_a_code_is_ever_issued(self, insider, response_type, response_mode):
        answer = insider.authorize(response_type=response_type, response_mode=response_mode)

        location = answer.headers["Location"]
        assert (urlsplit(location).fragment != "") == (response_mode == "fragment")
        said = query_of(location)
        assert said.keys() == {"error", "error_description", "state", "iss"}
        assert said["error"] == "unsupported_response_type"

    @pytest.mark.parametrize("wrong", [{"scope": "email"}, {"response_type": "token"}, {"prompt": "none"}])
    def test_case_A14_go_into_the_fragment_when_that_was_asked_for(self, acme, wrong):
        client = acme.application()

        answer = acme.browser().authorize(client, response_mode="fragment", **wrong)

        parts = urlsplit(answer.headers["Location"])
        assert parts.query == ""
        assert query_of(f"?{parts.fragment}").keys() == {"error", "error_description", "state", "iss"}

    def test_do_not_echo_a_state_that_was_not_sent(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, state=None, scope="email")

        assert sent_back(answer, client).keys() == {"error", "error_description", "iss"}

    def test_case_A23_a_request_uri_is_never_fetched(self, acme):
        client = acme.application()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.5)
            uri = f"http://127.0.0.1:{listener.getsockname()[1]}/request.jwt"

            answer = acme.browser().authorize(client, request_uri=uri)

            with pytest.raises(TimeoutError):
                listener.accept()
        assert find_refusal(answer, client) == Refusal("request_uri_not_supported")

    @pytest.mark.parametrize(
        "claims",
        [
            *("[]", "null", "1", "{", "{}x", "NaN", '{"userinfo": NaN}', '{"a": Infinity}', "'", "\ufeff{}"),
            '{"userinfo": {}, "userinfo": {}}',
            '{"id_token": {"name": null, "name": null}}',
            '{"other": {"deep": {"in": 1, "in": 2}}}',
            '{"a": ' + "1" * 5_000 + "}",
            '{"a":' * 2_000 + "1" + "}" * 2_000,
            "[" * 10_000 + "]" * 10_000,
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            '{"userinfo": {"' + "n" * 1_000_000 + '": null}}',
            "[" * 300_000,
        ],
        ids=named,
    )
    def test_case_A24_claims_that_are_absurd_are_refused(self, insider, claims):
        answer = insider.post(urlencode(insider.client.request(claims=claims)))

        assert find_refusal(answer, insider.client) == Refusal("invalid_request")
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize("name", ["nonce", "id_token_hint", "login_hint", "prompt"])
    def test_case_A24_so_is_anything_else_of_that_length(self, insider, name):
        answer = insider.post(urlencode(insider.client.request(**{name: "none " * 30_000})))

        assert find_refusal(answer, insider.client) == Refusal("invalid_request")

    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "foo"])
    def test_case_A24_unless_the_refusal_could_not_come_back_with_it(self, insider, name):
        answer = insider.post(urlencode(insider.client.request(**{name: "x" * 100_000})))

        assert find_error_page(answer) == ErrorPage()

    def test_case_A17_unknown_scopes_are_dropped_and_the_token_answer_says_so(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        code = find_code(browser.authorize(client, scope="openid admin profile all profile"), client)

        assert client.redeem(code).json()["scope"] == "openid profile"

    @pytest.mark.parametrize("kind", ["SPA", "Native"])
    def test_decision_O5_case_B08_public_clients_must_send_a_challenge(self, acme, kind):
        client = acme.application(kind)

        answer = acme.browser().authorize(client, code_challenge=None, code_challenge_method=None)

        assert find_refusal(answer, client) == Refusal("invalid_request")

    @pytest.mark.parametrize("kind", ["SPA", "Native", "Traditional"])
    @pytest.mark.parametrize(
        "wrong",
        [
            *({"code_challenge_method": method} for method in ("plain", "S512", "s256", None)),
            *({"code_challenge": text} for text in ("a" * 42, "a" * 44, "a" * 42 + "=", "a" * 42 + "/", "")),
            {"code_challenge": "a" * 43, "code_challenge_method": "plain"},
        ],
        ids=named,
    )
    def test_decision_O5_case_B09_B10_a_challenge_is_43_characters_of_S256(self, insider, kind, wrong):
        client = insider.client.world.application(kind)

        answer = insider.post(urlencode(client.request(**wrong)))

        assert find_refusal(answer, client) == Refusal("invalid_request")

    def test_decision_O5_a_traditional_one_may_do_without(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, code_challenge=None, code_challenge_method=None)

        assert client.redeem(find_code(answer, client), code_verifier=None).status_code == 200

    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            ({"code_challenge": None, "code_challenge_method": None}, "challenge"),
            ({"code_challenge": None}, "code_challenge"),
            ({"code_challenge_method": "plain"}, "algorithm"),
            ({"code_challenge_method": None}, "algorithm"),
        ],
    )
    def test_what_is_wrong_with_a_challenge_is_said(self, acme, wrong, named):
        """RFC 7636 section 4.4.1."""
        client = acme.application("SPA")

        said = sent_back(acme.browser().authorize(client, **wrong), client)

        assert said["error"] == "invalid_request"
        assert named in said["error_description"].lower()


class TestState:
    @pytest.mark.parametrize(
        "state",
        [
            "",
            " ",
            "+",
            "%20",
            "a+b c%2Bd",
            "%0d%0aSet-Cookie: a=b",
            "\r\nSet-Cookie: a=b\r\n\r\n<script>",
            "<script>alert(1)</script>",
            "\"'><img src=x onerror=alert(1)>",
            "a&code=stolen&iss=evil",
            "a=b;c=d#e?f/g",
            "ünïcödé ⛔ \U0001d4b3 \u202e \ufeff \uffff",
            "e\u0301",  # decomposed: not to be normalised
            "{{7*7}}${jndi:ldap://x}%s",
            "\x7f\x01\t",
            "x" * 2000,
            "ä" * 666,
        ],
        ids=named,
    )
    def test_case_A16_comes_back_letter_by_letter(self, insider, state):
        success = insider.authorize(state=state)
        refusal = insider.authorize(state=state, scope="email")

        for answer in (success, refusal):
            assert sent_back(answer, insider.client)["state"] == state
            assert answer.headers["Location"].isascii()
            assert re.fullmatch(r"[!-~]+", answer.headers["Location"])
            assert answer.text == ""
            assert "Set-Cookie" not in answer.headers

    def test_case_A16_survives_the_wait_at_the_sign_in_page_unseen(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        state = '"><script>x9y8z7</script>\r\n é+%2B'

        interaction = interaction_at("sign-in", browser.authorize(client, state=state), acme)
        page = browser.get(f"/sign-in?interaction={interaction}")
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert "x9y8z7" not in page.text
        assert sent_back(browser.get(onward), client)["state"] == state

    @given(state=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
    @fuzzing(max_examples=60, deadline=None)
    def test_case_A16_whatever_it_is(self, insider, state):
        answer = insider.authorize(prompt="none", max_age="0", state=state)

        assert find_refusal(answer, insider.client) == Refusal("login_required", state)

    @given(
        query=st.lists(
            st.tuples(
                st.sampled_from(
                    ["scope", "prompt", "max_age", "claims", "id_token_hint", "response_mode", "state"]
                )
                | st.text(max_size=8),
                st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
            ),
            max_size=6,
        )
    )
    @fuzzing(max_examples=60, deadline=None)
    def test_no_query_makes_it_fail(self, insider, query):
        answer = insider.get(urlencode([*insider.client.request().items(), *query]))

        assert answer.status_code in {303, 400}
        if answer.status_code == 303 and not answer.headers["Location"].startswith("/t/"):
            assert answer.headers["Location"].startswith(CALLBACK)
