"""The account page that sets up an authenticator, and the one of backup codes."""

import re

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator
from identity.sessions.models import Session
from tests.support import account, audit_log, codes, factors
from tests.support.cast import PASSWORD
from tests.support.factors import App, enrol, give_backup_codes, is_signed_in, switch_on
from tests.support.forms import form
from tests.support.security_pages import (
    ADD,
    CODES,
    SECURITY,
    add_authenticator,
    let_proofs_age,
    read_key,
    send_form,
)


@pytest.mark.parametrize("name", ["a\x07b", "a\nb", "a\x85b"])
def test_a_name_with_control_characters_is_refused_when_an_authenticator_is_added(acme, browser, name):
    answer = add_authenticator(browser, name=name)

    assert answer.status_code == 400
    assert "control characters" in answer.text
    with acme.active():
        assert not Authenticator.objects.exists()


def test_the_account_page_says_whether_two_step_sign_in_is_on(acme, user, browser):
    off = browser.get("/account").text
    empty = browser.get(SECURITY).text
    app = enrol(acme, user)
    on = factors.signed_in(acme, user, app).get("/account").text

    assert '<strong>Two-step sign-in</strong><span class="small">Off</span>' in off
    assert "Switch it on" not in empty
    assert re.search(rf'class="button button-primary" href="[^"]*{ADD}"', empty)
    assert "On: authenticator app" in on


class TestSettingUp:
    def test_decision_M42_an_authenticator(self, acme, user, browser):
        answer = add_authenticator(browser, name="My phone")

        assert answer.status_code == 303
        assert answer.headers["Location"].endswith("/account/security/codes?done=added")
        shown = browser.get(SECURITY)
        assert "My phone" in shown.text
        assert "Two-step sign-in is on." in shown.text
        with acme.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (2, ["pwd", "otp", "mfa"])
        assert acme.browser().sign_in(user).json()["result"]["next"]["step"] == "second_factor"

    def test_backup_codes_come_next_and_need_no_password_again(self, browser):
        offered = browser.get(add_authenticator(browser).headers["Location"])
        made = send_form(browser, f"{CODES}?done=added", offered)

        assert "Authenticator app added." in offered.text
        assert "Create backup codes" in offered.text
        assert "Not now" in offered.text
        assert "current-password" not in offered.text
        assert made.text.count("<li><code>") == 10

    @pytest.mark.parametrize("has_codes", [True, False])
    def test_the_page_of_factors_comes_next_for_users_who_need_no_backup_codes(
        self, acme, user, browser, has_codes
    ):
        switch_on(acme, *(["Totp", "BackupCode"] if has_codes else ["Totp"]))
        if has_codes:
            enrol(acme, user)
            give_backup_codes(acme, user)
            with acme.active():
                Session.objects.update(level=2, second_factor_at=timezone.now())

        assert add_authenticator(browser).headers["Location"].endswith("/account/security?done=added")

    def test_decision_M14_the_session_gets_a_new_secret_and_keeps_its_id(self, acme, browser):
        old = dict(browser.http.cookies)
        with acme.active():
            before = Session.objects.get()

        add_authenticator(browser)

        with acme.active():
            after = Session.objects.get()
        assert (after.pk, after.auth_time) == (before.pk, before.auth_time)
        assert after.token_hash != before.token_hash
        stale = acme.browser()
        for name, value in old.items():
            stale.http.cookies.set(name, value)
        assert not is_signed_in(stale)
        assert is_signed_in(browser)
        assert audit_log.last(acme, "Session.StepUp").payload["level"] == 2

    def test_decision_M44_the_first_one_signs_out_other_browsers(self, acme, user, browser):
        other = acme.browser()
        other.sign_in(user)

        add_authenticator(browser)

        assert is_signed_in(browser)
        assert not is_signed_in(other)

    def test_decision_M43_a_password_that_was_not_given_lately_is_asked_for(self, acme, browser):
        let_proofs_age(acme)
        page = browser.get(ADD)
        app = App(read_key(page))

        wrong = send_form(browser, ADD, page, code=app.code(), password="wrong")
        with acme.active():
            assert not Authenticator.objects.exists()
        right = send_form(browser, ADD, wrong, code=app.code(), password=PASSWORD)

        assert "current-password" in page.text
        assert (wrong.status_code, right.status_code) == (401, 303)

    def test_decision_M43_somebody_without_a_password_signs_in_again(self, acme):
        switch_on(acme, "Totp")
        codes.reachable(acme)
        email = codes.new_email()
        account.change(acme, acme.user(email=email, email_verified=True), password="")
        browser = acme.browser()
        codes.enter(browser, email, codes.sent(browser, email))
        open_page = browser.get(ADD)
        let_proofs_age(acme)

        page = browser.get(ADD)
        answer = send_form(browser, ADD, open_page, code=App(read_key(open_page)).code())

        assert answer.status_code == 403
        assert "Sign in again" in page.text
        assert "Sign in again" in answer.text
        assert read_key(page) == read_key(answer) == ""

    def test_decision_M43_another_one_needs_the_first(self, acme, user, browser):
        app = enrol(acme, user)
        let_proofs_age(acme)

        asked = browser.get(ADD)
        page = browser.get(asked.headers["Location"])
        done = form(page).submit(browser, code=app.code())

        assert asked.headers["Location"].endswith("/confirm?back=account-authenticator")
        assert done.headers["Location"].endswith(ADD)
        assert add_authenticator(browser, password=PASSWORD).status_code == 303
        with acme.active():
            assert Authenticator.objects.count() == 2

    def test_the_person_is_told(self, acme):
        switch_on(acme, "Totp")
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        browser = acme.browser()
        browser.sign_in(user)

        add_authenticator(browser)

        assert (
            "was added to your account" in codes.message_to(email, number=2)["subject"]
        )  # after that of the new sign-in

    def test_a_wrong_code_is_said_at_the_field(self, browser):
        page = browser.get(ADD)

        answer = send_form(browser, ADD, page, code="000000")

        assert answer.status_code == 401
        assert read_key(answer) == read_key(page)

    def test_no_more_than_five(self, acme, user, browser):
        for _ in range(5):
            enrol(acme, user, two_step=False)
        with acme.active():
            Session.objects.update(level=2, second_factor_at=timezone.now())

        answer = add_authenticator(browser)

        assert answer.status_code == 400
        assert "Remove one first" in answer.text


class TestBackupCodes:
    def test_decision_M44_new_ones_end_the_old_and_other_sessions(self, acme, user):
        switch_on(acme, "Totp", "BackupCode")
        app = enrol(acme, user)
        old = give_backup_codes(acme, user)
        browser, other = factors.signed_in(acme, user, app), factors.signed_in(acme, user, app)

        page = browser.get(CODES)
        shown = send_form(browser, CODES, page)

        assert "Your present backup codes stop working" in page.text
        assert shown.text.count("<li><code>") == 10
        assert old[0] not in shown.text
        assert not is_signed_in(other)
        assert "10 codes left" in browser.get(SECURITY).text

    def test_without_another_factor_there_are_none(self, acme, browser):
        assert browser.get(CODES).headers["Location"].endswith(SECURITY)
