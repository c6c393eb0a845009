"""Without a known client and a registered redirect URI nobody is redirected."""

import pytest

from oidc.applications import services as applications
from tests.support.authorize import (
    ErrorPage,
    Refusal,
    find_error_page,
    find_refusal,
    interaction_at,
    parked,
    without_reference,
)
from tests.support.cast import CALLBACK, query_of, signed_in
from tests.support.forms import form


class TestClient:
    def test_case_A01_every_unknown_client_gets_the_same_page(self, acme, rival):
        deleted = acme.application()
        with acme.active():
            applications.remove(deleted.application)
        client_ids = [
            "unknown",
            deleted.client_id,
            rival.application().client_id,
            "ünknown",
            "x" * 5000,
            "a b",
            "%00",
        ]

        answers = [
            acme.get("/oidc/authorize", params=acme.application().request(client_id=client_id))
            for client_id in client_ids
        ]

        for answer in answers:
            assert find_error_page(answer) == ErrorPage()
        assert len({without_reference(answer.text) for answer in answers}) == 1

    @pytest.mark.parametrize("client_id", [None, ""])
    def test_refuses_a_request_without_a_client(self, acme, client_id):
        answer = acme.get("/oidc/authorize", params=acme.application().request(client_id=client_id))

        assert find_error_page(answer) == ErrorPage()
        assert "The parameter client_id is missing." in answer.text

    def test_case_A01_finds_no_client_of_another_tenant(self, acme, rival):
        client = rival.application()

        answer = acme.get("/oidc/authorize", params=client.request())

        assert find_error_page(answer) == ErrorPage()

    def test_case_J12_shows_nothing_of_what_was_sent(self, acme):
        mark = "x9y8z7"
        sent = acme.application().request(client_id=f"<script>{mark}", state=f"'{mark}", scope=f'"{mark}')

        answer = acme.get("/oidc/authorize", params=sent | {"redirect_uri": f"javascript:{mark}", mark: mark})

        assert find_error_page(answer) == ErrorPage()
        assert mark not in answer.text

    def test_case_A18_a_machine_never_meets_a_person(self, acme):
        client = acme.application("MachineToMachine")

        for uri in (None, "", CALLBACK):
            answer = acme.get("/oidc/authorize", params=client.request(redirect_uri=uri))
            assert find_error_page(answer) == ErrorPage()
        assert parked(acme) == 0

    def test_case_A18_an_application_without_the_grant_is_unauthorized(self, acme):
        client = acme.application()
        with acme.active():
            type(client.application).objects.update(grant_types=["refresh_token"])

        answer = acme.browser().authorize(client)

        assert find_refusal(answer, client) == Refusal("unauthorized_client")


class TestRedirectUri:
    @pytest.mark.parametrize(
        "uri",
        [
            "https://rp.example/callback/",
            "https://rp.example/callback/x",
            "https://rp.example/callback?x=1",
            "https://rp.example/callback?",
            "https://rp.example/callback#f",
            "https://rp.example/callback#",
            "https://rp.example/callback;p",
            "https://rp.example/CALLBACK",
            "https://rp.example/callback%2e",
            "https://rp.example/%63allback",
            "https://rp.example/./callback",
            "https://rp.example/x/../callback",
            "https://rp.example//callback",
            "https://rp.example",
            "https://rp.example/",
            "https://rp.example:443/callback",
            "https://rp.example:/callback",
            "https://rp.example:8443/callback",
            "http://rp.example/callback",
            "HTTPS://rp.example/callback",
            "https://RP.example/callback",
            "https://rp.example./callback",
            "https://u@rp.example/callback",
            "https://u:p@rp.example/callback",
            "https://rp.example.evil.example/callback",
            "https://rp.example@evil.example/callback",
            "https://rp.example%40evil.example/callback",
            "https://evil.example/https://rp.example/callback",
            "https://evil.example\\@rp.example/callback",
            "https://evil.example#@rp.example/callback",
            "https:rp.example/callback",
            "https:/rp.example/callback",
            "https:///rp.example/callback",
            "//rp.example/callback",
            "/callback",
            "callback",
            " https://rp.example/callback",
            "https://rp.example/callback ",
            "https://rp.example/callback\t",
            "https://rp.example/call\tback",
            "https://rp.example/callback\n",
            "https://rp.example/callback\r\nX: y",
            "https://rp.exam\u200dple/callback",
            "https://rp\uff0eexample/callback",
            "https://\uff52p.example/callback",
            "https://rp.example/callback https://evil.example/",
            "https://rp.example/callback,https://evil.example/",
            "javascript:alert(1)//rp.example/callback",
            "data:text/html,https://rp.example/callback",
            "file:///callback",
            "vbscript:x",
            "about:blank",
            "blob:https://rp.example/callback",
            "urn:ietf:wg:oauth:2.0:oob",
            "postmessage",
            "",
            "*",
            "https://*/callback",
        ],
    )
    def test_case_A02_anything_but_the_registered_text_is_an_error_page(self, insider, uri):
        answer = insider.authorize(redirect_uri=uri)

        assert find_error_page(answer) == ErrorPage()
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize(
        "query",
        ["", "?a=1&b=", "?b=&a=1&c", "?b&a=1", "?a=1", "?a=1&b=&a=1", "?a=1&b=&", "?b=&a=1", "?a=%31&b="],
    )
    def test_case_A03_a_query_counts_letter_by_letter(self, acme, query):
        registered = "https://rp.example/callback?a=1&b="
        client = acme.application(redirect_uris=[registered])
        browser, _ = signed_in(acme)
        uri = f"https://rp.example/callback{query}"

        answer = browser.authorize(client, redirect_uri=uri)

        if uri == registered:
            assert "code=" in answer.headers["Location"]
        else:
            assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("registered", [[CALLBACK], [CALLBACK, "https://rp.example/other"]])
    @pytest.mark.parametrize("sent", [None, ""])
    def test_case_A04_it_must_be_sent_even_when_only_one_is_registered(self, acme, registered, sent):
        client = acme.application(redirect_uris=registered)

        answer = acme.browser().authorize(client, redirect_uri=sent)

        assert find_error_page(answer) == ErrorPage()

    def test_each_registered_one_works(self, acme):
        client = acme.application(redirect_uris=[CALLBACK, "https://rp.example/other"])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, redirect_uri="https://rp.example/other")

        assert answer.headers["Location"].startswith("https://rp.example/other?code=")

    @pytest.mark.parametrize(
        ("registered", "uri"),
        [
            ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb"),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1:51234/cb"),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1/cb"),
            ("http://[::1]/cb", "http://[::1]:51234/cb"),
            ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:51234/cb?a=1"),
            ("http://127.0.0.1", "http://127.0.0.1:51234"),
        ],
    )
    def test_case_A05_a_native_application_may_use_any_loopback_port(self, acme, registered, uri):
        client = acme.application("Native", redirect_uris=[registered])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, redirect_uri=uri)

        assert answer.headers["Location"].startswith(uri)
        code = query_of(answer.headers["Location"])["code"]
        assert client.redeem(code, redirect_uri=uri).status_code == 200

    @pytest.mark.parametrize(
        "uri",
        [
            "http://127.0.0.1.evil.example:5000/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://127.1:5000/cb",
            "http://127.0.0.2:5000/cb",
            "http://0.0.0.0:5000/cb",
            "http://0x7f000001:5000/cb",
            "http://2130706433:5000/cb",
            "http://017700000001:5000/cb",
            "http://localhost:5000/cb",
            "http://localhost/cb",
            "http://[::1]:5000/cb",
            "http://[::ffff:127.0.0.1]:5000/cb",
            "https://127.0.0.1:5000/cb",
            "https://127.0.0.1/cb",
            "http://127.0.0.1:5000/cb/",
            "http://127.0.0.1:5000/cb?a=1",
            "http://127.0.0.1:5000/cb#f",
            "http://127.0.0.1:5000/CB",
            "http://127.0.0.1:5000/./cb",
            "http://127.0.0.1:5000",
            "http://127.0.0.1:5000@evil.example/cb",
            "http://u@127.0.0.1:5000/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:-1/cb",
            "http://127.0.0.1:+80/cb",
            "http://127.0.0.1:5000:6000/cb",
            "http://127.0.0.1:\uff15\uff10\uff10\uff10/cb",
            "http://127.0.0.1:123456/cb",
            "http://127.0.0.1:abc/cb",
            "http://127.0.0.1:50\t00/cb",
            "HTTP://127.0.0.1:5000/cb",
        ],
    )
    def test_case_A06_but_nothing_else_may_differ(self, acme, uri):
        client = acme.application("Native", redirect_uris=["http://127.0.0.1/cb"])

        answer = acme.browser().authorize(client, redirect_uri=uri)

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("registered", ["http://localhost/cb", "http://localhost:8080/cb"])
    def test_case_A06_a_host_name_is_not_a_loopback_address(self, acme, registered):
        """RFC 8252 section 8.3: the name might be somebody else's."""
        client = acme.application("Native", redirect_uris=[registered])

        answer = acme.browser().authorize(client, redirect_uri="http://localhost:51234/cb")

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize("kind", ["Traditional", "SPA"])
    @pytest.mark.parametrize("uri", ["http://127.0.0.1:51234/cb", "http://127.0.0.1/cb"])
    def test_case_A07_other_types_keep_the_port_they_registered(self, acme, kind, uri):
        client = acme.application(kind, redirect_uris=["http://127.0.0.1:8080/cb", "http://[::1]:8080/cb"])

        answer = acme.browser().authorize(client, redirect_uri=uri)

        assert find_error_page(answer) == ErrorPage()

    def test_case_A08_a_private_scheme_is_answered(self, acme):
        client = acme.application("Native", redirect_uris=["com.example.app:/cb"])
        browser, _ = signed_in(acme)

        page = browser.get(browser.authorize(client).headers["Location"])  # decision N9: never without a page
        pressed = form(page).submit(browser, choice="continue")
        answer = browser.get(pressed.headers["Location"])

        assert answer.headers["Location"].startswith("com.example.app:/cb?code=")

    def test_case_A11_prompt_none_does_not_open_a_redirect(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, redirect_uri="https://evil.example/", prompt="none")

        assert find_error_page(answer) == ErrorPage()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"response_type": "token"},
            {"scope": "email"},
            {"prompt": "none login"},
            {"request_uri": "https://rp.example/request"},
            {"response_mode": "fragment"},
            {"max_age": "soon"},
        ],
    )
    def test_decision_O8_nothing_else_that_is_wrong_opens_one_either(self, acme, wrong):
        client = acme.application()

        answer = acme.browser().authorize(client, redirect_uri="https://evil.example/", **wrong)

        assert find_error_page(answer) == ErrorPage()

    def test_a_removed_redirect_uri_stops_working_for_requests_that_wait(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        with acme.active():
            applications.change(
                client.application, {"redirect_uris": ["https://rp.example/new"]}, is_proven=True
            )

        page = browser.get(f"/sign-in?interaction={interaction}")
        onward = browser.get(f"/oidc/authorize/{interaction}")
        answer = browser.sign_in(user, interaction=interaction)

        assert [page.status_code, onward.status_code, answer.status_code] == [400, 400, 400]
        assert "Location" not in page.headers
        assert "Location" not in onward.headers
