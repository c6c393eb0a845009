"""How a request is read: GET and POST, bytes, and parameters that come twice or do not exist."""

import json
import time
from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest

from tests.support import cast, wire
from tests.support.authorize import (
    WITH_CODE,
    ErrorPage,
    Refusal,
    find_error_page,
    find_refusal,
    interaction_at,
    sent_back,
)
from tests.support.cast import CALLBACK, signed_in

FORM = "Content-Type: application/x-www-form-urlencoded"


class TestPost:
    def test_answers_as_get_does(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.post("/oidc/authorize", data=client.request())

        assert sent_back(answer, client).keys() == WITH_CODE

    def test_parks_the_request_of_somebody_who_is_not_signed_in(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        interaction = interaction_at("sign-in", browser.post("/oidc/authorize", data=client.request()), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_of_another_site_goes_on_as_get_so_that_the_session_is_seen(self, acme):
        """A browser keeps SameSite=Lax cookies from a cross-site POST."""
        client = acme.application()
        browser, _ = signed_in(acme)
        state = "ä&=+ %0d%0a #"

        bounced = acme.post(
            "/oidc/authorize", data=client.request(state=state), headers={"Sec-Fetch-Site": "cross-site"}
        )

        assert bounced.status_code == 303
        assert bounced.headers["Location"].startswith(f"{urlsplit(acme.address).path}/oidc/authorize?")
        assert sent_back(browser.get(bounced.headers["Location"]), client)["state"] == state

    @pytest.mark.parametrize(
        "state", [b"a\r\nSet-Cookie: a=b", b"a\nb", "grüß".encode(), b"a b#c", b"\x7f", b"<'\">"]
    )
    def test_of_another_site_survives_bytes_that_no_browser_would_send(self, acme, state):
        client = acme.application()
        body = urlencode(client.request(state=None)).encode() + b"&state=" + state

        bounced = wire.send(
            acme.address, "POST", b"/oidc/authorize", FORM, "Sec-Fetch-Site: cross-site", body=body
        )

        assert bounced.status == 303
        assert "set-cookie" not in bounced.headers
        answer = acme.get(
            bounced.headers["location"].removeprefix(urlsplit(acme.address).path) + "&prompt=none"
        )
        assert find_refusal(answer, client) == Refusal("login_required", state.decode())

    @pytest.mark.parametrize("origin", ["https://rp.example", "http://127.0.0.1", "null"])
    def test_of_another_site_is_recognized_by_its_origin(self, acme, origin):
        """Some browsers do not send Sec-Fetch-Site."""
        client = acme.application()
        browser, _ = signed_in(acme)

        bounced = acme.post("/oidc/authorize", data=client.request(), headers={"Origin": origin})

        assert bounced.status_code == 303
        assert "Set-Cookie" not in bounced.headers
        assert sent_back(browser.get(bounced.headers["Location"]), client).keys() == WITH_CODE

    @pytest.mark.parametrize(
        "content_type", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""]
    )
    def test_takes_forms_only(self, acme, content_type):
        body = json.dumps(acme.application().request()).encode()

        answer = acme.post("/oidc/authorize", content=body, headers={"Content-Type": content_type})

        assert find_error_page(answer) == ErrorPage(415)

    def test_does_not_mix_the_query_into_the_form(self, acme):
        client = acme.application()
        form = client.request(redirect_uri=None)

        answer = acme.post("/oidc/authorize", params={"redirect_uri": CALLBACK}, data=form)

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize(
        ("size", "status"),
        [(20_000, 400), (66_000, 400), (2 * 1024 * 1024, 413), (10 * 1024 * 1024, 413)],
    )
    def test_refuses_a_large_body(self, acme, size, status):
        client = acme.application()

        answer = acme.post("/oidc/authorize", data=client.request(state="x" * size))

        assert find_error_page(answer) == ErrorPage(status)


class TestBadBytes:
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "scope", "nonce", "foo"])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_refuses_a_nul(self, acme, name, method):
        parameters = acme.application().request(**{name: "a\0b"})
        where = {"params": parameters} if method == "GET" else {"data": parameters}

        answer = httpx.request(method, f"{acme.address}/oidc/authorize", **where)

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("bad", ["%ff", "%c3%28", "%ed%a0%80", "%c0%80", "%f4%90%80%80"])
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "foo"])
    def test_refuses_what_is_not_utf8(self, acme, name, bad):
        query = f"{urlencode(acme.application().request(**{name: None}))}&{name}={bad}"

        answer = acme.get(f"/oidc/authorize?{query}")

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("bad", [b"\xff", b"\xc3\x28", b"\xed\xa0\x80"])
    def test_refuses_raw_bytes_that_are_not_utf8(self, acme, bad):
        query = urlencode(acme.application().request(state=None)).encode() + b"&state=" + bad

        in_query = wire.send(acme.address, "GET", b"/oidc/authorize?" + query)
        in_form = wire.send(acme.address, "POST", b"/oidc/authorize", FORM, body=query)

        assert (in_query.status, in_form.status) == (400, 400)
        assert "location" not in in_query.headers | in_form.headers

    @pytest.mark.parametrize(
        "query", ["", "?", "&&&", "=", "client_id", "%", "%%%", "client_id=%", "a;b;c", "?x"]
    )
    def test_refuses_what_hardly_is_a_query(self, acme, query):
        answer = acme.get(f"/oidc/authorize?{query}")

        assert find_error_page(answer) == ErrorPage()

    def test_refuses_a_thousand_parameters(self, acme):
        client = acme.application()

        answer = acme.get("/oidc/authorize", params=[*client.request().items(), *[("a", "b")] * 1000])

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
    def test_refuses_what_is_too_long_for_a_client(self, acme, name):
        client = acme.application()
        began = time.monotonic()

        answer = acme.post("/oidc/authorize", data=client.request(**{name: CALLBACK + "a" * 10_000}))

        assert find_error_page(answer) == ErrorPage()
        assert time.monotonic() - began < 2

    def test_a_query_beyond_all_measure_is_refused(self, acme):
        client = acme.application()

        answer = acme.get("/oidc/authorize", params=client.request(state="x" * 20_000))

        assert answer.status_code in {400, 414}
        assert "Location" not in answer.headers


class TestRepeatedParameters:
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
    @pytest.mark.parametrize("same", [True, False])
    def test_case_A10_of_the_client_are_an_error_page(self, acme, name, same):
        client = acme.application()
        sent = client.request()
        pairs = [*sent.items(), (name, sent[name] if same else "https://evil.example/")]

        answer = acme.get("/oidc/authorize", params=pairs)
        reverse = acme.get("/oidc/authorize", params=pairs[::-1])

        assert find_error_page(answer) == ErrorPage()
        assert find_error_page(reverse) == ErrorPage()

    @pytest.mark.parametrize(
        "name",
        [
            "state",
            "response_type",
            "scope",
            "code_challenge",
            "code_challenge_method",
            "nonce",
            "prompt",
            "max_age",
            "response_mode",
            "id_token_hint",
            "login_hint",
            "claims",
            "ui_locales",
        ],
    )
    @pytest.mark.parametrize("method", ["get", "post"])
    def test_case_A10_of_the_rest_are_told_to_the_application(self, insider, name, method):
        values = {"prompt": "login", "max_age": "10", "response_mode": "query"}
        sent = insider.client.request(**{name: insider.client.request().get(name, values.get(name, "{}"))})

        answer = getattr(insider, method)(urlencode([*sent.items(), (name, sent[name])]))

        assert find_refusal(answer, insider.client) == Refusal("invalid_request")


class TestThirdParties:
    @pytest.mark.parametrize(
        "wrong", ["//evil.example", "/\\evil.example", "https:evil.example", "https://evil.example"]
    )
    @pytest.mark.parametrize("name", ["next", "continue", "redirect_to", "return_to", "url"])
    def test_case_J14_no_parameter_of_ours_takes_an_address(self, acme, name, wrong):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        answer = browser.get(f"/oidc/authorize?{urlencode(client.request())}&{name}={quote(wrong)}")
        interaction = interaction_at("sign-in", answer, acme)
        signed = browser.post(
            f"/api/interaction/sign-in?{name}={quote(wrong)}",
            json={
                "identifier": user.username,
                "password": cast.PASSWORD,
                "interaction": interaction,
                name: wrong,
            },
        )

        assert signed.json()["result"] == {
            "redirect_to": f"{urlsplit(acme.address).path}/oidc/authorize/{interaction}"
        }
