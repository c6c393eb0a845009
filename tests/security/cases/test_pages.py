"""The case book, letter J: what a browser is given and lets others do with it."""

import re

import httpx
import pytest
from django.conf import settings

from tests.support.cast import CALLBACK, query_of
from tests.support.forms import forms

PAGES = ("/sign-in", "/register")
OF_THE_ACCOUNT = (
    *("/account", "/account/profile", "/account/password", "/account/browsers"),
    *("/account/applications", "/account/linked", "/account/data"),
)
ELSEWHERE = [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "https:evil.example",
    "javascript:alert(1)",
]


class TestAnInteractionOfSomebodyElse:
    """An attacker begins a sign-in and has a victim open its address."""

    def test_case_J02_a_signed_in_victim_finishes_nothing_of_the_attackers(self, acme):
        client, victim = acme.application(), acme.user()
        attackers, victims = acme.browser(), acme.browser()
        victims.sign_in(victim)
        waiting = query_of(attackers.authorize(client).headers["Location"])["interaction"]

        opened = victims.get(f"/sign-in?interaction={waiting}")
        continued = victims.get(f"/oidc/authorize/{waiting}")
        signed_in = victims.sign_in(victim, interaction=waiting)
        afterwards = attackers.get(f"/oidc/authorize/{waiting}")

        assert signed_in.status_code == 400
        for answer in (opened, continued, afterwards):
            assert "code=" not in answer.headers.get("Location", "")
        assert attackers.get("/account").status_code == 303


class TestWhereToGo:
    @pytest.mark.parametrize("address", ELSEWHERE)
    @pytest.mark.parametrize("name", ["redirect_to", "next", "continue", "return_to", "redirect_uri"])
    def test_case_J13_is_never_what_a_request_says(self, acme, name, address):
        user, browser = acme.user(), acme.browser()
        body = {"identifier": user.username, "password": "tr0ub4dor and three", name: address}

        answer = browser.post(f"/api/interaction/sign-in?{name}={address}", json=body)

        assert answer.json()["result"]["redirect_to"] == f"/t/{acme.tenant.slug}/account"

    def test_case_J13_is_the_request_that_waits_or_the_registered_address(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        waiting = query_of(browser.authorize(client).headers["Location"])["interaction"]

        there = browser.sign_in(user, interaction=waiting).json()["result"]["redirect_to"]

        assert there.startswith(f"/t/{acme.tenant.slug}/oidc/authorize/")
        assert browser.get(there).headers["Location"].startswith(f"{CALLBACK}?")


class TestFiles:
    def test_case_J15_no_page_takes_one(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)

        pages = [acme.get(path) for path in PAGES] + [browser.get(path) for path in OF_THE_ACCOUNT]

        assert {page.status_code for page in pages} == {200}
        for page in pages:
            assert "multipart/form-data" not in page.text
            assert "file" not in {type_ for form in forms(page) for type_ in form.types.values()}

    def test_case_J15_a_file_that_is_sent_all_the_same_is_no_picture(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)

        answer = browser.post("/account/profile", files={"avatar": ("a.svg", b"<svg onload='alert(1)'/>")})

        assert answer.status_code in {400, 403, 413, 415}


class TestThirdPartyCookies:
    def test_case_J20_the_code_flow_needs_none(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        code = browser.code_for(client, user)

        cookies = [
            cookie
            for answer in (browser.authorize(client), browser.get("/sign-in"))
            for cookie in answer.headers.get_list("set-cookie")
        ]
        tokens = client.redeem(code)

        assert all("SameSite=None" not in cookie for cookie in cookies)
        assert "set-cookie" not in tokens.headers
        assert client.userinfo(tokens.json()["access_token"]).status_code == 200


class TestOperatorsSite:
    def test_case_J21_keeps_no_token_where_scripts_can_read_it(self):
        """The script of the operators' site stores two choices of how the site looks."""
        scripts = [
            path
            for root in (settings.BASE_DIR / "management", settings.BASE_DIR / "interaction")
            for path in root.rglob("*.js")
        ]

        assert scripts
        for path in scripts:
            stores = re.findall(r"sessionStorage|localStorage|document\.cookie|indexedDB", path.read_text())
            assert stores == (["localStorage"] * 2 if path.name == "console.js" else []), path
        site = (settings.BASE_DIR / "management/static/gatehouse/console.js").read_text()
        assert set(re.findall(r"\bstore\((.+?),", site)) == {'"theme"', '"side"'}

    def test_case_J21_loads_nothing_from_elsewhere(self, address):
        page = httpx.get(f"{address}/admin/login/", follow_redirects=True)

        addresses = re.findall(r"""(?:src|href)="((?:https?:)?//[^"]+)""", page.text)
        assert page.status_code == 200
        assert [found for found in addresses if not found.startswith(address)] == []


class TestCaches:
    def test_case_J22_keep_no_page_of_a_person(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)

        for path in OF_THE_ACCOUNT:
            assert "no-store" in browser.get(path).headers["Cache-Control"], path

    def test_case_J22_a_host_that_is_made_up_poisons_no_address(self, acme):
        page = acme.get("/sign-in", headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})

        assert page.status_code in {200, 400}
        assert "evil.example" not in page.text
