"""A tenant's own texts on its pages: decision X20."""

import html
import re

import pytest

from interaction.experience.page_texts import KEYS
from tests.support import codes, management
from tests.support.cast import World, query_of
from tests.support.management import refusal_of, result_of


def text(key: str, words: str, language: str = "") -> dict[str, str]:
    return {"key": key, "language": language, "text": words}


def write(world: World, *texts: dict[str, str]) -> None:
    result_of(management.superuser(world).patch("/sign-in-experience", page_texts=list(texts)))


def heading(page: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


class TestPages:
    def test_decision_X20_replace_the_built_in_ones(self, acme):
        write(
            acme,
            text("sign_in_heading", "Welcome to {application}"),
            text("sign_in_introduction", "Members of {tenant} only"),
            text("sign_in_button", "Let me in"),
            text("register_heading", "Join {tenant}"),
            text("register_introduction", "It takes a minute"),
            text("register_button", "Join"),
            text("help_line", "Questions? Ask {tenant}."),
            text("support_label", "Ask us"),
            text("support_url", "mailto:help@acme.example"),
        )

        sign_in, register = acme.get("/sign-in").text, acme.get("/register").text

        assert heading(sign_in) == f"Welcome to {acme.tenant.name}"
        assert f"Members of <bdi>{acme.tenant.name}</bdi> only" in sign_in
        assert '<button class="button button-primary" type="submit"><bdi>Let me in</bdi></button>' in sign_in
        assert heading(register) == f"Join {acme.tenant.name}"
        assert "It takes a minute" in register
        assert "<bdi>Join</bdi></button>" in register
        for page in (sign_in, register, acme.get("/oidc/authorize").text):
            assert f"Questions? Ask <bdi>{acme.tenant.name}</bdi>." in page
            assert '<a href="mailto:help@acme.example"><bdi>Ask us</bdi></a>' in page

    def test_the_application_is_named(self, acme):
        write(acme, text("sign_in_heading", "Welcome to {application}"))
        client, browser = acme.application(name="Shop <1>"), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        page = browser.get("/sign-in", params={"interaction": interaction}).text

        assert "Welcome to <bdi>Shop &lt;1&gt;</bdi>" in page
        assert heading(page) == "Welcome to Shop <1>"

    def test_decision_X20_fall_back_by_language(self, acme):
        write(
            acme,
            text("sign_in_button", "Hinein", "de"),
            text("sign_in_button", "Enter"),
            text("help_line", "Nur auf Deutsch", "de"),
        )

        pages = {
            tag: acme.get("/sign-in", params={"ui_locales": tag}).text for tag in ("de", "fr", "zh-Hans")
        }

        assert "<bdi>Hinein</bdi>" in pages["de"]
        assert "<bdi>Enter</bdi>" in pages["fr"]
        assert "<bdi>Enter</bdi>" in pages["zh-Hans"]
        assert ["Nur auf Deutsch" in page for page in pages.values()] == [True, False, False]
        assert heading(pages["fr"]).startswith("Se connecter")

    def test_case_are_escaped(self, acme):
        evil = "<img src=x onerror=alert(1)>\"'&"
        write(
            acme,
            text("sign_in_heading", f"{evil} {{application}}"),
            text("sign_in_introduction", evil),
            text("sign_in_button", evil),
            text("help_line", evil),
            text("support_label", evil),
            text("support_url", "https://acme.example/?a=1&b=2"),
        )

        page = acme.get("/sign-in").text

        assert "<img src=x" not in page
        assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 5
        assert 'href="https://acme.example/?a=1&amp;b=2"' in page

    def test_a_name_with_a_placeholder_is_not_filled_in_again(self, acme):
        write(acme, text("sign_in_heading", "{application} of {tenant}"))
        client, browser = acme.application(name="{tenant}"), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        page = browser.get("/sign-in", params={"interaction": interaction}).text

        assert heading(page) == f"{{tenant}} of {acme.tenant.name}"

    def test_a_page_that_begins_with_a_code_has_the_heading_too(self, acme):
        write(codes.reachable(acme), text("sign_in_heading", "Welcome to {application}"))
        methods = [{"identifier": "email", "password": False, "verification_code": True}]
        codes.experience(acme, sign_in={"methods": methods})

        assert heading(acme.get("/sign-in/code").text) == f"Welcome to {acme.tenant.name}"

    def test_the_longest_texts_fit(self, acme):
        needed = {"sign_in_heading": "{application}", "register_heading": "{tenant}"}
        longest = [
            text(name, needed.get(name, "").ljust(key.max_length, "ä"))
            for name, key in KEYS.items()
            if name != "support_url"
        ]
        write(acme, *longest, text("support_url", "https://acme.example/".ljust(2048, "x")))

        for path in ("/sign-in", "/register"):
            page = acme.get(path)
            assert page.status_code == 200
            assert len(page.content) < 50_000

    def test_another_tenant_keeps_its_own(self, acme, rival):
        write(acme, text("sign_in_button", "Let me in"))

        assert "Let me in" not in rival.get("/sign-in").text


class TestAPI:
    @pytest.mark.parametrize(
        ("wrong", "rule"),
        [
            (text("sign_in_heading", "Welcome"), "must contain {application}"),
            (text("register_heading", "Join {application}"), "must contain {tenant}"),
            (text("sign_in_heading", "{application} {name}"), "must not contain {name} as"),
            (text("sign_in_button", "Enter {tenant}"), "sign_in_button: it has no placeholders"),
            (text("help_line", "Ask {application}"), "as help_line: use only {tenant}"),
            (text("sign_in_introduction", "a { b"), "must not contain { as"),
            (text("sign_in_introduction", "{tenant"), "must not contain { as"),
            (text("sign_in_introduction", "{{tenant}}"), "must not contain {, } as"),
            (text("sign_in_introduction", "{}"), "must not contain {} as"),
            (text("sign_in_button", "x" * 41), "at most 40 characters"),
            (text("sign_in_button", ""), "blank"),
            (text("sign_in_button", "  "), "blank"),
            (text("sign_in_button", "a\nb"), "control characters"),
            (text("support_url", "javascript:alert(1)"), "must be an https or mailto URL"),
            (text("support_url", "http://acme.example"), "must be an https or mailto URL"),
            (text("support_url", 'https://acme.example/"x'), "must be an https or mailto URL"),
            (text("title", "x"), "is not a valid choice"),
            (text("sign_in_button", "x", "xx"), "is not a valid choice"),
            ({"key": "sign_in_button", "language": ""}, "is required"),
            ({"key": "sign_in_button", "text": "x"}, "is required"),
            ({"key": ["sign_in_button"], "language": "", "text": "x"}, "is not a valid choice"),
            ({"key": "sign_in_button", "language": "", "text": 1}, "must be a string"),
        ],
    )
    def test_decision_X20_refuses_what_breaks_a_rule_and_names_it(self, acme, wrong, rule):
        admin = management.superuser(acme)

        answer = admin.patch("/sign-in-experience", page_texts=[text("help_line", "fine"), wrong])

        assert rule in refusal_of(answer, 400)
        assert answer.json()["errors"][0]["field"].startswith("page_texts[1]")
        assert result_of(admin.get("/sign-in-experience"))["page_texts"] == []

    @pytest.mark.parametrize("wrong", [{}, "x", [1], ["x"], [None], None, [[]]])
    def test_refuses_what_is_no_list_of_texts(self, acme, wrong):
        refusal_of(management.superuser(acme).patch("/sign-in-experience", page_texts=wrong), 400)

    def test_refuses_two_texts_for_one_place(self, acme):
        twice = [text("sign_in_button", "a", "de"), text("sign_in_button", "b", "de")]

        answer = management.superuser(acme).patch("/sign-in-experience", page_texts=twice)

        assert "the same key and the same language" in refusal_of(answer, 400)

    def test_is_not_a_part_of_the_interaction_api(self, acme):
        write(acme, text("sign_in_button", "Let me in"))

        assert "page_texts" not in acme.get("/api/interaction/sign-in-experience").json()["result"]
