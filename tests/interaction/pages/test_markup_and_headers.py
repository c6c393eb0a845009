"""What every page has: an error page for what is not there, escaped text, and headers."""

import html
import re

import httpx
import pytest
from django.conf import settings
from django.test import Client

from identity.core import tenancy
from identity.tenants.models import Tenant
from interaction.experience.models import SignInExperience
from tests.support import cast, codes
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.pages import followed, opened, title, typed


class TestErrorPages:
    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/nothing", 404),
            ("/sign-in/", 404),
            ("/.env", 404),
            ("/.git/config", 404),
            ("/admin/", 404),
            ("/__debug__/", 404),
            ("/static/..%2f..%2fmanage.py", 404),
            ("/static/../manage.py", 404),
            ("/oidc/authorize", 400),
            ("/oidc/authorize/x", 404),
            ("/<script>alert(1)</script>", 404),
            ("/%00", 404),
            ("/%ff%fe", 404),
            ("//evil.example/", 404),
        ],
    )
    def test_case_K10_say_what_to_do_and_give_a_reference(self, acme, path, status):
        answer = acme.get(path)

        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Request-Id"] in answer.text
        assert "alert(1)" not in answer.text
        assert "Location" not in answer.headers

    @pytest.mark.parametrize(
        "path",
        [
            "/t/nobody/",
            "/t/nobody/sign-in",
            "/t/default/sign-in",
            "/t/",
            "/t//sign-in",
            "/t/UPPER/sign-in",
            "/t/a%2fb/",
        ],
    )
    def test_a_tenant_that_is_not_there_is_a_page_not_found(self, address, path):
        answer = httpx.get(f"{address}{path}")

        assert answer.status_code == 404
        assert title(answer) == "There is nothing here"
        assert "Gatehouse" in answer.text

    def test_case_K11_a_failure_of_ours_shows_no_code(self, acme, monkeypatch):
        def fail(*_: object) -> None:
            raise RuntimeError("the database password is hunter2")

        monkeypatch.setattr("identity.sessions.cookies.current_session", fail)

        answer = Client(raise_request_exception=False).get(f"/t/{acme.tenant.slug}/account")

        assert answer.status_code == 500
        text = answer.content.decode()
        assert "Something went wrong on our side" in text
        assert answer.headers["X-Request-Id"] in text
        assert "hunter2" not in text
        assert "Traceback" not in text


HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "</title><script>alert(1)</script>",
    "{{7*7}}{% debug %}${7*7}%s",
    "\u202egnp.exe",
    "' onmouseover='alert(1)",
    "N" * 256,
]


class TestEscaping:
    @pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
    def test_case_J10_a_name_is_text_wherever_it_stands(self, acme, name):
        client = acme.application(name=name, is_third_party=True)
        user = acme.user(name=name)
        with tenancy.using(tenancy.EVERYWHERE):
            Tenant.objects.filter(pk=acme.tenant.pk).update(name=name)
        browser = acme.browser()

        pages = [opened(browser, client)]
        pages.append(followed(browser, form(pages[0]).submit(browser, **typed(user))))
        pages.append(opened(browser, client, prompt="select_account"))
        pages += [browser.get("/account"), browser.get("/oidc/end-session"), browser.get("/nothing")]

        assert [page.status_code for page in pages] == [200, 200, 200, 200, 200, 404]
        for page in pages:
            assert html.escape(name) in page.text
            assert html.escape(name) == name or name not in page.text

    def test_case_J08_addresses_of_the_brand_are_attributes(self, acme):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {
                "logo_url": 'https://cdn.example/"onerror="alert(1)',
                "dark_logo_url": "https://cdn.example/dark.svg",
                "favicon": "https://cdn.example/x.ico",
            }
            experience.terms_of_use_url = 'https://acme.example/terms"><script>'
            experience.save()

        page = acme.get("/sign-in")

        assert '"onerror="' not in page.text
        assert '"><script>' not in page.text
        assert 'href="https://cdn.example/x.ico"' in page.text

    @pytest.mark.parametrize(
        "colour",
        ["red;}body{display:none", "expression(alert(1))", "</style>", "url(//evil)", "#12345", "#xyz", ""],
    )
    def test_case_J09_a_colour_that_is_none_paints_nothing(self, acme, colour):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {"primary_color": colour, "dark_primary_color": colour}
            experience.save()

        answer = acme.get("/brand.css")

        assert (answer.status_code, answer.text) == (200, "")
        assert answer.headers["Content-Type"] == "text/css; charset=utf-8"

    @pytest.mark.parametrize(("colour", "text"), [("#ffff00", "#000"), ("#123", "#fff"), ("#1a73e8", "#000")])
    def test_a_colour_gets_the_text_that_can_be_read_on_it(self, acme, colour, text):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {"primary_color": colour}
            experience.save()

        answer = acme.get("/brand.css")
        again = acme.get("/brand.css", headers={"If-None-Match": answer.headers["ETag"]})

        assert f":root{{--brand:{colour};--on-brand:{text}}}" in answer.text
        assert again.status_code == 304


def policy(page: httpx.Response) -> dict[str, list[str]]:
    directives = [directive.split() for directive in page.headers["Content-Security-Policy"].split(";")]
    return {name: sources for name, *sources in directives}


@pytest.fixture(scope="module")
def pages(address):
    """One of each kind of page, errors included."""
    world = cast.new_world("Acme")
    client = world.application(is_third_party=True)
    browser, user = signed_in(world)
    return [
        world.get("/sign-in"),
        opened(world.browser(), client),
        opened(browser, client),
        opened(browser, client, prompt="select_account"),
        browser.get("/account"),
        browser.get("/oidc/end-session"),
        world.get("/oidc/end-session"),
        world.get("/nothing"),
        world.get("/oidc/authorize"),
        world.post("/sign-in", data=typed(user)),
        httpx.get(f"{address}/t/nobody/sign-in"),
    ]


class TestHeaders:
    def test_case_J06_every_page_forbids_what_it_does_not_need(self, pages):
        for page in pages:
            rules = policy(page)
            assert rules["default-src"] == rules["frame-ancestors"] == ["'none'"]
            assert rules["base-uri"] == rules["object-src"] == ["'none'"]
            assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == ["'self'"]
            assert rules["form-action"] == ["'self'", "https:"]
            assert not any("unsafe" in source for sources in rules.values() for source in sources)
            assert page.headers["X-Content-Type-Options"] == "nosniff"
            assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert "camera=()" in page.headers["Permissions-Policy"]

    def test_case_J07_no_page_is_shown_in_a_frame(self, pages):
        for page in pages:
            assert page.headers["X-Frame-Options"] == "DENY"
            assert policy(page)["frame-ancestors"] == ["'none'"]

    def test_case_A28_no_page_is_kept_or_tells_where_it_was(self, pages):
        for page in pages:
            assert page.headers["Cache-Control"] == "no-store", page.url
            assert page.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}

    def test_case_A28_pages_load_from_this_site_alone_and_hold_no_inline_code(self, pages):
        for page in pages:
            for address in re.findall(r'(?:src|href|action)="([^"]*)"', page.text):
                assert address.startswith("/")
                assert not address.startswith("//")
            assert "style=" not in page.text
            assert "<style" not in page.text
            assert not re.search(r"\son\w+=", page.text)
            assert re.findall(r"<script[^>]*>(.*?)</script>", page.text) == [""]

    def test_pages_say_language_and_title(self, pages):
        for page in pages:
            assert '<html lang="en" dir="ltr">' in page.text
            assert re.search(r"<title>[^<]+ \u2013 (Acme|Gatehouse)</title>", page.text)
            assert page.text.count("<h1>") == 1

    @pytest.mark.parametrize(
        ("kind", "uri", "target"),
        [
            ("Traditional", "https://rp.example/cb", None),
            ("Traditional", "http://localhost:3000/cb", "http://localhost:*"),
            ("Native", "http://127.0.0.1/cb", "http://127.0.0.1:*"),
            ("Native", "http://[::1]/cb", "http:"),
            ("Native", "com.example.app:/cb", "com.example.app:"),
        ],
    )
    def test_case_J06_a_form_may_lead_to_the_application_that_waits(self, acme, kind, uri, target):
        page = opened(acme.browser(), acme.application(kind, redirect_uris=[uri]))

        assert policy(page)["form-action"] == ["'self'", "https:", *([target] if target else [])]

    @pytest.mark.parametrize(("path", "files"), [("/sign-in", 3), ("/register", 5)])
    def test_static_files_are_kept_and_harmless(self, acme, path, files):
        codes.experience(acme, password_policy={"strength_meter": True})
        page = acme.get(path)
        addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)

        assert len(addresses) == files
        for address in addresses:
            answer = httpx.get(f"{settings.BASE_URL}{address}")
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert len(answer.content) < 14 * 1024

    def test_plain_http_says_nothing_of_https(self, acme):
        assert "Strict-Transport-Security" not in acme.get("/sign-in").headers
