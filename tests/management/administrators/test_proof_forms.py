"""The pages on which administrators prove who they are before they change their own account."""

import base64
import time

import pytest
from django.test import Client

from config.single_sign_on import Provider
from identity.limits.rules import Lock
from identity.limits.services import TooMany
from identity.operator_kit import fresh_proof
from identity.users.passwords import Busy
from management.administrators import second_step
from tests.support import authenticator, operators
from tests.support.cast import PASSWORD

PASSWORD_PAGE, EMAIL_PAGE = "/admin/password/", "/admin/email/"
PAGES = {
    PASSWORD_PAGE: {"current": PASSWORD, "password": "a new and better password"},
    EMAIL_PAGE: {"email": "ada@example.com", "password": PASSWORD},
    "/admin/single-sign-on/": {"password": PASSWORD},
    "/admin/passkeys/new/": {"password": PASSWORD},
    "/admin/two-step/": {"password": PASSWORD, "code": "123456"},
}
SECRET = b"0123456789abcdefghij"  # of an authenticator


@pytest.fixture(autouse=True)
def pages_are_available(address, settings):
    settings.EMAIL_HOST = "mail.example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.BASE_URL, settings.WEBAUTHN_RP_ID = "http://localhost", "localhost"
    settings.ADMIN_OIDC = Provider("https://sso.example", "client", "secret", "Example", "own", ())


@pytest.fixture
def who():
    return operators.administrator()


@pytest.fixture
def browser(who):
    browser = Client()
    browser.force_login(who)
    session = browser.session
    session[fresh_proof._KEY] = int(time.time())
    session.save()
    return browser


def errors_of(answer):
    return {field: len(errors) for field, errors in answer.context["form"].errors.items()}


@pytest.mark.parametrize("page", PAGES)
class TestEveryPage:
    @pytest.mark.parametrize("refusal", [Busy(), TooMany(30)], ids=["busy", "too many"])
    def test_reports_what_is_not_about_the_password_for_the_whole_form(
        self, browser, monkeypatch, page, refusal
    ):
        def refuse(*args, **options):
            raise refusal

        monkeypatch.setattr("management.administrators.sign_in.reauthenticate", refuse)

        answer = browser.post(page, PAGES[page])

        assert answer.status_code == refusal.status
        assert errors_of(answer) == {"__all__": 1}
        assert answer.headers["Retry-After"] == refusal.headers["Retry-After"]

    def test_reports_a_wrong_password_at_its_field(self, browser, page):
        field = "current" if page == PASSWORD_PAGE else "password"

        answer = browser.post(page, {**PAGES[page], field: "wrong"})

        assert answer.status_code == 401
        assert errors_of(answer) == {field: 1}

    def test_says_how_long_a_locked_administrator_waits(self, browser, monkeypatch, page):
        monkeypatch.setattr("identity.limits.rules.ADMINISTRATOR", Lock("administrator", 2, 900))
        field = "current" if page == PASSWORD_PAGE else "password"
        for _ in range(2):
            browser.post(page, {**PAGES[page], field: "wrong"})

        answer = browser.post(page, PAGES[page])

        assert answer.status_code == 401
        assert 0 < int(answer.headers["Retry-After"]) <= 900

    def test_is_kept_by_no_cache(self, browser, page):
        assert "no-store" in browser.get(page).headers["Cache-Control"]


class TestWithASecondStep:
    @pytest.fixture(autouse=True)
    def has_a_second_step(self, who):
        second_step.set_up(who, secret=SECRET, code=authenticator.code(base64.b32encode(SECRET).decode()))

    @pytest.mark.parametrize("page", [page for page in PAGES if page != "/admin/two-step/"])
    def test_reports_a_wrong_code_at_its_field(self, browser, page):
        answer = browser.post(page, {**PAGES[page], "code": "000000"})

        assert answer.status_code == 401
        assert errors_of(answer) == {"code": 1}


def test_a_rule_that_the_new_password_breaks_is_reported_at_its_field(browser):
    answer = browser.post(PASSWORD_PAGE, {"current": PASSWORD, "password": "short"})

    assert answer.status_code == 400
    assert errors_of(answer) == {"password": 1}


def test_an_email_that_is_none_is_reported_at_its_field(browser):
    answer = browser.post(EMAIL_PAGE, {"email": "nobody", "password": PASSWORD})

    assert answer.status_code == 400
    assert errors_of(answer) == {"email": 1}
