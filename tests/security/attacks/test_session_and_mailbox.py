"""Somebody who has a live session and reads the user's mail adds no factor."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import BackupCode, Passkey
from identity.sessions.models import Session
from tests.support import codes, factors, passkeys
from tests.support.cast import PASSWORD, query_of
from tests.support.codes import new_email
from tests.support.factors import NEXT, SEND, SET_UP_CODES, enrol, switch_on
from tests.support.forms import forms
from tests.support.passkeys import device

CONFIRM = "/api/my-account/confirm"
EMAIL = "EmailVerificationCode"
CODES_PAGE = "/sign-in/backup-codes"


@pytest.fixture
def email():
    return new_email()


@pytest.fixture
def user(acme, email):
    codes.reachable(acme)
    passkeys.switch_on(acme, "Totp", "BackupCode", "WebAuthn", EMAIL, sign_in=False)
    return acme.user(email=email, email_verified=True)


def grow_old(world):
    """Make the sessions of a tenant as old as one that was left open."""
    earlier = timezone.now() - timedelta(hours=1)
    with world.active():
        Session.objects.update(
            auth_time=earlier,
            updated_at=earlier,
            created_at=earlier,
            second_factor_at=earlier,
            password_confirmed_at=None,
        )


def confirm_by_mail(world, browser, email):
    """Prove the second factor again with a code by email."""
    codes.let_time_pass(world)
    sent = browser.post(SEND, json={"type": EMAIL})
    if sent.status_code != 200:
        return sent
    code = codes.message_about(email, "Your second code")["code"]
    return browser.post(CONFIRM, json={"type": EMAIL, "code": code})


class TestASessionWithAPassword:
    @pytest.fixture
    def thief(self, acme, user, email):
        """An old session with both factors, in which a code by email was just entered."""
        app = enrol(acme, user)
        browser = factors.signed_in(acme, user, app)
        grow_old(acme)
        assert confirm_by_mail(acme, browser, email).status_code == 200
        return browser

    def test_decision_M43_a_code_by_email_makes_no_backup_codes(self, acme, thief):
        answer = thief.post(SET_UP_CODES, json={})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        with acme.active():
            assert not BackupCode.objects.exists()

    def test_decision_M43_nor_on_the_page(self, acme, thief):
        token = forms(thief.get("/account"))[0].fields

        answer = thief.post(CODES_PAGE, data=token)

        assert answer.headers["Location"].endswith("/account")
        with acme.active():
            assert not BackupCode.objects.exists()

    def test_decision_M43_nor_after_a_backup_code_with_few_left(self, acme, user, thief):
        spare = factors.give_backup_codes(acme, user)
        with acme.active():
            for code in spare[:-1]:
                factors.use_backup_code(user, code)

        offered, made = thief.get(NEXT), thief.post(SET_UP_CODES, json={})

        assert offered.json()["result"]["step"] == "done"
        assert made.status_code == 403

    def test_decision_M43_a_request_for_a_passkey_lets_none_be_added(self, acme, thief):
        place = thief.authorize(acme.application(), acr_values="phr").headers["Location"]
        interaction = {"interaction": query_of(place)["interaction"]}

        offered = thief.get(f"{NEXT}?interaction={interaction['interaction']}")
        answer = thief.post(passkeys.OPTIONS, json={"ceremony": "set_up"} | interaction)

        assert offered.json()["result"]["step"] == "sign_in"
        assert answer.status_code == 403
        with acme.active():
            assert not Passkey.objects.exists()

    def test_decision_M43_the_password_lets_the_owner_add_it(self, acme, thief):
        assert thief.post(CONFIRM, json={"password": PASSWORD}).status_code == 200
        place = thief.authorize(acme.application(), acr_values="phr").headers["Location"]
        interaction = {"interaction": query_of(place)["interaction"]}

        options = passkeys.ask(thief, "set_up", **interaction)
        answer = passkeys.send(thief, "set_up", device().create(options), **interaction)

        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["redirect_to"].partition("?")[0].endswith(CODES_PAGE)
        assert thief.post(SET_UP_CODES, json=interaction).status_code == 200


class TestTheOwner:
    def test_decision_M32_a_slow_set_up_still_leads_to_backup_codes(self, acme, user):
        """The password was entered more than five minutes before the sign-in was finished."""
        switch_on(acme, "Totp", "BackupCode", policy="Mandatory")
        browser = acme.browser()
        factors.half(browser, user)
        with acme.active():
            factors.PendingSignIn.objects.update(auth_time=timezone.now() - timedelta(minutes=6))
        offer = browser.post(factors.SET_UP, json={}).json()["result"]
        code = factors.App(offer["secret"]).code()

        browser.post(factors.SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": code})

        assert browser.get(NEXT).json()["result"]["step"] == "backup_codes"
        assert browser.post(SET_UP_CODES, json={}).status_code == 200

    def test_decision_M32_a_set_up_after_a_code_by_email_does_too(self, acme, user, email):
        switch_on(acme, "Totp", "BackupCode", policy="Mandatory")
        browser = acme.browser()
        codes.enter(browser, email, codes.sent(browser, email))
        offer = browser.post(factors.SET_UP, json={}).json()["result"]
        code = factors.App(offer["secret"]).code()

        browser.post(factors.SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": code})

        assert browser.get(CODES_PAGE).status_code == 200
        assert browser.post(SET_UP_CODES, json={}).status_code == 200
