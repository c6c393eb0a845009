"""Somebody who has a live session and reads the user's mail adds no factor, and confirms no change."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import BackupCode, Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import account, codes, factors, openid, passkeys, social
from tests.support.cast import PASSWORD, query_of
from tests.support.codes import new_email
from tests.support.factors import NEXT, SEND, SET_UP_CODES, enrol, has_session, switch_on
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


class TestASessionWithoutAPassword:
    @pytest.fixture
    def app(self, acme, user):
        account.change(acme, user, password="")
        return enrol(acme, user)

    @pytest.fixture
    def thief(self, acme, app, email):
        """An old session that began with a code by email and an authenticator."""
        browser = acme.browser()
        codes.enter(browser, email, codes.sent(browser, email))
        assert factors.has_session(browser.post(factors.TOTP, json={"code": app.code()}))
        grow_old(acme)
        return browser

    def test_decision_M21_a_code_to_the_same_address_confirms_nothing(self, acme, thief, email, app):
        with acme.active():
            assert Session.objects.get().level == 2

        answer = confirm_by_mail(acme, thief, email)
        page = thief.get("/account/email")

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert EMAIL not in thief.get(page.headers["Location"]).text
        assert thief.post(CONFIRM, json={"type": "Totp", "code": app.code()}).status_code == 200

    @pytest.mark.parametrize("amr", [["otp", "mfa"], ["pop", "user", "mfa"]])
    def test_decision_M21_nor_after_another_provider_and_a_factor(self, acme, thief, email, amr):
        """A session does not tell whether it began at another provider."""
        with acme.active():
            Session.objects.update(amr=amr)

        answer = confirm_by_mail(acme, thief, email)

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})

    def test_decision_M21_a_text_message_is_left_out_after_one(self, acme, user, thief, app):
        switch_on(acme, "Totp", EMAIL, "PhoneVerificationCode")
        account.change(acme, user, phone="+4915112345678", phone_key="+4915112345678", phone_verified=True)
        assert thief.post(SEND, json={"type": "PhoneVerificationCode"}).status_code == 200

        with acme.active():
            Session.objects.update(amr=["otp", "sms", "mfa"])
        codes.let_time_pass(acme)

        assert thief.post(SEND, json={"type": "PhoneVerificationCode"}).status_code == 403
        assert thief.post(SEND, json={"type": EMAIL}).status_code == 403

    def test_decision_M21_a_text_message_is_the_other_factor_of_a_mailbox(self, acme, user, thief):
        switch_on(acme, EMAIL, "PhoneVerificationCode")
        account.change(acme, user, phone="+4915112345678", phone_key="+4915112345678", phone_verified=True)
        with acme.active():
            Session.objects.update(amr=["otp", "sms", "mfa"])

        by_mail = thief.post(SEND, json={"type": EMAIL})
        by_text = thief.post(SEND, json={"type": "PhoneVerificationCode"})

        assert (by_mail.status_code, by_text.status_code) == (403, 200)

    def test_decision_M21_a_user_without_another_factor_can_still_confirm(self, acme, user, thief, email):
        switch_on(acme, EMAIL, "PhoneVerificationCode")

        assert confirm_by_mail(acme, thief, email).status_code == 200
        with acme.active():
            assert User.objects.get(pk=user.pk).email == email


class TestASessionThatIsSignedInAgain:
    """An open session that began with the password, and a code by email used twice."""

    @pytest.fixture
    def thief(self, acme, user):
        app = enrol(acme, user, two_step=False)
        browser = acme.browser()
        assert has_session(browser.sign_in(user))
        assert browser.post(CONFIRM, json={"type": "Totp", "code": app.code()}).status_code == 200
        grow_old(acme)
        return browser

    def test_decision_M21_M43_a_code_that_signs_in_ends_the_confirmation_by_a_code(self, acme, thief, email):
        social.connect(acme, openid.CLIENT | {"issuer": "https://elsewhere.example"})
        assert confirm_by_mail(acme, thief, email).status_code == 200
        codes.let_time_pass(acme)
        number = len(codes.messages_to(email)) + 1
        assert has_session(codes.enter(thief, email, codes.sent(thief, email, number=number)))
        token = forms(thief.get("/account"))[0].fields

        answer = thief.post("/account/linked", data=token | {"link": "oidc"})

        assert answer.headers["Location"].endswith("/confirm?back=account-linked")
        assert thief.get("/account/email").headers["Location"].endswith("/confirm?back=account-email")
        with acme.active():
            assert (Session.objects.get().level, Session.objects.get().second_factor_at) == (2, None)

    def test_decision_M43_a_password_keeps_it(self, acme, user, thief, email):
        assert confirm_by_mail(acme, thief, email).status_code == 200

        assert has_session(thief.sign_in(user))

        assert thief.get("/account/email").status_code == 200
