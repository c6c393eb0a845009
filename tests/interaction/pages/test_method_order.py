"""The order of sign-in methods: which identifier pages name first, and whether password or code is first."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support import codes, management, operators
from tests.support.forms import form
from tests.support.management import refusal_of, result_of
from tests.support.pages import followed, title

ON = {"password": True, "verification_code": False}
METHODS = {
    "username": {"identifier": "username", **ON},
    "email": {"identifier": "email", "password": True, "verification_code": True},
    "phone": {"identifier": "phone", "password": True, "verification_code": True},
}
FORM = "/admin/experience/signinexperience/{}/do/arrange/"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def arrange(admin, *kinds, **more):
    sign_in = {"methods": [METHODS[kind] for kind in kinds], **more}
    return result_of(admin.patch("/sign-in-experience", sign_in=sign_in))["sign_in"]


def label(page):
    (found,) = re.findall(r'<label for="id_identifier"[^>]*>([^<]+)', page.text)
    return found.strip()


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("kinds", "named"),
        [
            (("username", "email"), "Username or email"),
            (("email", "username"), "Email or username"),
            (("phone", "email", "username"), "Phone, email or username"),
            (("email", "username", "phone"), "Email, username or phone"),
        ],
    )
    def test_decision_X21_are_named_in_the_order_of_the_list(self, acme, admin, kinds, named):
        shown = arrange(admin, *kinds)

        assert [method["identifier"] for method in shown["methods"]] == list(kinds)
        assert label(acme.get("/sign-in")) == named
        offered = acme.get("/api/interaction/sign-in-experience").json()["result"]["sign_in"]
        assert [method["identifier"] for method in offered["methods"]] == list(kinds)

    def test_are_named_so_where_codes_are_sent(self, acme, admin):
        codes.reachable(acme)

        arrange(admin, "email", "phone")
        assert label(acme.get("/sign-in/code")) == "Email or phone"
        arrange(admin, "phone", "email")
        assert label(acme.get("/sign-in/code")) == "Phone or email"

    def test_are_named_so_in_other_languages(self, acme, admin):
        arrange(admin, "phone", "email", "username")

        page = acme.get("/sign-in", headers={"Accept-Language": "de"})

        assert label(page) == "Telefon, E-Mail oder Benutzername"


class TestWays:
    def test_are_password_and_code_by_default(self, acme, admin):
        codes.reachable(acme)

        assert result_of(admin.get("/sign-in-experience"))["sign_in"]["ways"] == [
            *("password", "verification_code")
        ]
        assert acme.get("/sign-in").status_code == 200
        offered = acme.get("/api/interaction/sign-in-experience").json()["result"]["sign_in"]
        assert offered["ways"] == ["password", "verification_code"]

    def test_decision_X21_a_code_that_is_first_is_the_first_page_and_leads_to_the_password(self, acme, admin):
        codes.reachable(acme)
        arrange(admin, "email", ways=["verification_code", "password"])
        client, browser = acme.application(), acme.browser()

        first = followed(browser, browser.authorize(client))

        assert title(first) == "Get a code to sign in"
        (back,) = re.findall(r'<a href="([^"]+)">Use your password instead', first.text)
        query = parse_qs(urlsplit(back.replace("&amp;", "&")).query)
        assert set(query) == {"interaction", "with"}
        second = browser.get(back.replace("&amp;", "&"))
        assert second.status_code == 200
        assert 'name="password"' in second.text
        (german,) = re.findall(r'href="([^"]+)" lang="de"', second.text)
        assert "with=password" in german

    def test_a_code_that_cannot_be_sent_is_not_first(self, acme, admin):
        arrange(admin, "email", ways=["verification_code", "password"])

        assert 'name="password"' in acme.get("/sign-in").text

    def test_a_refused_password_is_said_on_its_page(self, acme, admin):
        codes.reachable(acme)
        arrange(admin, "email", ways=["verification_code", "password"])
        browser = acme.browser()
        page = browser.get("/sign-in?with=password")

        answer = form(page).submit(browser, identifier="ana@example.com", password="wrong")

        assert answer.status_code in {400, 401}
        assert "Wrong email or password." in answer.text

    @pytest.mark.parametrize(
        "ways",
        [[], ["password"], ["password", "password"], ["password", "verification_code", "x"], "x", None],
    )
    def test_that_are_not_both_once_are_refused(self, admin, ways):
        assert "sign_in.ways" in refusal_of(admin.patch("/sign-in-experience", sign_in={"ways": ways}), 400)


class TestTheForm:
    def test_moves_an_identifier_and_a_way(self, acme, admin):
        operator = operators.at(acme)
        path = FORM.format(result_of(admin.get("/sign-in-experience"))["id"])

        for move in ("phone up", "phone up", "verification_code up", "username up"):
            assert operator.submit(path, move=move).headers["Location"].endswith("/do/arrange/")

        shown = result_of(admin.get("/sign-in-experience"))["sign_in"]
        assert [method["identifier"] for method in shown["methods"]] == ["username", "phone", "email"]
        assert shown["ways"] == ["verification_code", "password"]
        page = operator.get(path).text
        assert re.findall(r'value="(\w+) up"', page) == [
            *("username", "phone", "email", "verification_code", "password")
        ]
        assert page.count(" disabled>") == 4

    def test_refuses_a_move_that_does_not_exist(self, acme, admin):
        operator = operators.at(acme)
        path = FORM.format(result_of(admin.get("/sign-in-experience"))["id"])

        assert operator.submit(path, move="fax up").status_code == 400
