"""Where a browser goes after signing out, and the state it takes along."""

import re

import pytest

from tests.support.end_session import HOME, PATH, is_refused, is_signed_out_page, sent_to, visit

EVIL_FOR_A_LIST = [
    "https://rp.example/bye/",
    "https://rp.example/bye?foo=bar",
    "https://rp.example/bye#x",
    "https://rp.example/BYE",
    "https://rp.example/by",
    "https://rp.example/bye2",
    "https://rp.example/./bye",
    "https://rp.example/x/../bye",
    "https://rp.example/b%79e",
    "https://rp.example:443/bye",
    "https://RP.example/bye",
    "http://rp.example/bye",
    "//rp.example/bye",
    "/bye",
    "https://rp.example.evil.example/bye",
    "https://rp.example@evil.example/bye",
    "https://evil.example/bye",
    " https://rp.example/bye",
    "https://rp.example/bye ",
    "https://rp.example/bye\n",
    "https://rp.example/callback",
    "javascript:alert(1)",
]


# What a browser understands otherwise than we might.
EVIL_FOR_AN_ORIGIN = [
    "https://evil.example/",
    "https://evil.example\\@rp.example/",
    "https://evil.example\\.rp.example/",
    "https://evil.example%5c@rp.example/",
    "https://evil.example@rp.example/",
    "https://rp.example@evil.example/",
    "https://rp.example:pw@evil.example/",
    "https://rp.example.evil.example/",
    "https://rp.example\\evil.example/",
    "https://rp.example:444/",
    "https://rp.example:99999/",
    "https://rp.example:port/",
    "http://rp.example/",
    "https:rp.example/",
    "https:///rp.example/",
    "https://\\rp.example/",
    "//rp.example/",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "rp.example",
    "https://[rp.example/",
    "https://rp.example/\r\nSet-Cookie: a=b",
    "https://rp.example/\r\n\r\n<script>",
    "https://rp.example/\ttab",
    "https://rp.\nexample/",
    "https://rp.example/a b",
    "https://rp.example/\u00e9",
    "https://rp.example/\u2028",
    "https://rp\u3002example/",
    "https://\uff52\uff50.example/",
    "https://rp.example/#fragment",
    "https://rp.example/%zz\x7f",
    "javascript:alert('https://rp.example/')",
    "data:text/html,https://rp.example/",
    "com.example.app:/bye",
]


class TestTargets:
    """Which URIs are good."""

    @pytest.mark.parametrize("target", EVIL_FOR_A_LIST)
    def test_case_E08_where_targets_are_listed_only_the_very_same_is_good(self, here, target):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="x")

        assert is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize(
        "target",
        [
            "https://rp.example/",
            "https://rp.example",
            "https://rp.example/any/path",
            "https://rp.example/?a=b",
        ],
    )
    def test_decision_O11_where_none_is_listed_any_uri_on_the_origin_is_good(self, acme, target):
        here = visit(acme, acme.application())

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="a b&c")

        assert answer.status_code == 303
        joint = "&" if "?" in target else "?"
        assert answer.headers["Location"] == f"{target}{joint}state=a+b%26c"
        assert not here.is_signed_in()

    @pytest.mark.parametrize("target", EVIL_FOR_AN_ORIGIN)
    def test_decision_O11_a_uri_that_a_browser_reads_otherwise_is_not_on_the_origin(self, acme, target):
        here = visit(acme, acme.application())

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="x")

        assert is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("target", EVIL_FOR_AN_ORIGIN)
    def test_decision_O11_nor_for_a_browser_that_has_no_session(self, acme, target):
        acme.application()

        answer = acme.browser().get(PATH, params={"post_logout_redirect_uri": target})

        assert is_refused(answer)

    def test_case_E09_a_uri_of_another_application_is_not_good(self, acme, here):
        acme.application(post_logout_redirect_uris=["https://b.example/bye"])
        acme.application(redirect_uris=["https://c.example/cb"])

        for target in ("https://b.example/bye", "https://c.example/"):
            assert is_refused(here.end(id_token_hint=here.hint, post_logout_redirect_uri=target))

        assert here.is_signed_in()

    def test_a_listed_target_with_a_query_keeps_it(self, acme):
        client = acme.application(post_logout_redirect_uris=[f"{HOME}?tab=1"])
        here = visit(acme, client)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=f"{HOME}?tab=1", state="x")

        assert answer.headers["Location"] == f"{HOME}?tab=1&state=x"

    def test_a_native_application_may_list_its_scheme(self, acme):
        client = acme.application(
            "Native",
            redirect_uris=["com.example.app:/callback"],
            post_logout_redirect_uris=["com.example.app:/bye"],
        )
        here = visit(acme, client)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri="com.example.app:/bye")

        assert sent_to(answer) == ("com.example.app:/bye", {})


class TestState:
    @pytest.mark.parametrize(
        "state",
        ["", "a+b c&d=e#f", "\r\nSet-Cookie: x=y", "\u2603 \U0001f600", '"><script>', "x" * 8_000, "%0d%0a"],
        ids=["empty", "reserved", "CRLF", "unicode", "markup", "8 kB", "escaped CRLF"],
    )
    def test_case_E12_comes_back_unchanged_or_is_refused(self, here, state):
        answer = here.browser.post(
            PATH, data={"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": state}
        )

        assert sent_to(answer) == (HOME, {"state": state})
        assert "x" not in [cookie.value for cookie in here.browser.http.cookies.jar]
        assert "Set-Cookie: x" not in str(answer.headers)

    @pytest.mark.parametrize("name", ["post_logout_redirect_uri", "state", "id_token_hint", "client_id"])
    def test_a_repeated_parameter_never_redirects_to_the_second(self, here, name):
        first = {
            "id_token_hint": here.hint,
            "client_id": here.client.client_id,
            "post_logout_redirect_uri": HOME,
            "state": "first",
        }
        pairs = [*first.items(), (name, "https://evil.example/")]

        answer = here.browser.get(PATH, params=pairs)

        assert is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("name", ["logout_hint", "ui_locales"])
    def test_a_repeated_parameter_is_refused_though_it_changes_little(self, here, name):
        answer = here.browser.get(PATH, params=[("id_token_hint", here.hint), (name, "a"), (name, "b")])

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_a_state_without_a_target_is_told_to_nobody(self, here):
        answer = here.end(id_token_hint=here.hint, state="to nobody")

        assert is_signed_out_page(answer)
        assert "to nobody" not in answer.text

    @pytest.mark.parametrize(
        "query", ["id_token_hint=%00", "state=%ff%fe", "&".join("a=1" for _ in range(200))]
    )
    def test_what_cannot_be_read_is_refused(self, here, query):
        answer = here.browser.get(f"{PATH}?{query}")

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_a_post_of_another_type_is_refused(self, here):
        answer = here.browser.post(PATH, json={"id_token_hint": here.hint})

        assert answer.status_code == 415
        assert here.is_signed_in()


class TestWrongTarget:
    WRONG = "https://rp.example/goodbye?a=1&b=2"

    def test_a_developer_sees_what_was_sent_and_what_is_registered(self, acme, loopback_server):
        acme = acme.at(loopback_server)
        client = acme.application(post_logout_redirect_uris=[HOME])

        page = acme.get(PATH, params={"client_id": client.client_id, "post_logout_redirect_uri": self.WRONG})

        assert is_refused(page)
        for text in ("<code>post_logout_redirect_uri</code>", "goodbye?a=1&amp;b=2", HOME):
            assert text in page.text
        assert f'/admin/applications/application/{client.application.pk}/change/"' in page.text

    def test_the_page_leads_to_a_sign_out_and_shows_nothing_else_in_production(self, acme):
        client = acme.application(post_logout_redirect_uris=[HOME])
        browser = acme.browser()
        browser.sign_in(acme.user())

        page = browser.get(
            PATH, params={"client_id": client.client_id, "post_logout_redirect_uri": self.WRONG}
        )
        question = browser.get(PATH)

        assert is_refused(page)
        assert re.search(rf'href="[^"]*{PATH}">Sign out</a>', page.text)
        assert HOME not in page.text
        assert "Sign out of" in question.text
