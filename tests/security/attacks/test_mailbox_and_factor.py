"""Somebody who reads a user's mail takes over nothing, if the user has a second factor other than email."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.challenges import Ceremony
from identity.factors.models import Authenticator, Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import account, codes, factors, passkeys
from tests.support.cast import PASSWORD
from tests.support.codes import REGISTER, RESET, new_email
from tests.support.factors import NEXT, SEND, SKIP, App, enrol, has_session, switch_on
from tests.support.forms import form, forms
from tests.support.passkeys import ask, device, send

CONFIRM = "/api/my-account/confirm"
ADD = "/account/security/authenticator"


@pytest.fixture
def email():
    return new_email()


@pytest.fixture
def user(acme, email):
    codes.reachable(acme)
    switch_on(acme)
    user = acme.user(email=email, email_verified=True)
    enrol(acme, user)
    return user


def state(world, user):
    """What a takeover would change."""
    with world.active():
        row = User.objects.get(pk=user.pk)
        apps = list(Authenticator.objects.values_list("pk", "user_id"))
    return row.password, row.email, row.phone, row.factors, row.two_step, row.epoch, apps


class TestTheMailbox:
    def test_case_MT5_MT37_no_way_of_the_mailbox_takes_the_account_over(self, acme, user, email):
        before, thief = state(acme, user), acme.browser()

        entered = codes.enter(thief, email, codes.sent(thief, email))
        tries = [
            thief.post(SEND, json={"type": "EmailVerificationCode"}),
            thief.post(SKIP, json={}),
            thief.post(factors.SET_UP, json={}),
            thief.post("/api/interaction/mfa/recovery-code", json={"code": "AAAA-AAAA-AAAA-AAAA"}),
            thief.get("/account/email"),
            thief.get("/account/password"),
        ]
        codes.let_time_pass(acme)
        code = codes.sent(thief, email, "forgot_password", number=2)
        codes.enter(thief, email, code, "forgot_password")
        tries += [
            thief.post(RESET, json={"identifier": email, "new_password": "a thief's password 1"}),
            thief.post(SEND, json={"type": "EmailVerificationCode"}),
            thief.post("/api/interaction/mfa/recovery-code", json={"code": "AAAA-AAAA-AAAA-AAAA"}),
        ]
        codes.let_time_pass(acme)
        codes.send(thief, email, "register")
        tries.append(
            thief.post(
                REGISTER,
                json={"username": "thief", "email": email, "password": "a thief's password 1"},
            )
        )

        assert entered.json()["result"]["next"]["step"] == "second_factor"
        assert "EmailVerificationCode" not in str(entered.json()["result"]["next"]["methods"])
        assert all(answer.status_code in {303, 400, 401, 403, 404} for answer in tries)
        assert not any(map(has_session, [entered, *tries]))
        assert state(acme, user) == before
        with acme.active():
            assert not Session.objects.exists()

    def test_case_MT37_a_new_address_needs_the_old_factor(self, acme, user, email):
        """A session alone changes no address, so nobody first moves the email and then uses its codes."""
        browser = acme.browser()
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=False)
        browser.sign_in(user)

        page = browser.get("/account/email")
        token = forms(browser.get("/account"))[0].fields
        sent = {"identifier": new_email(), "password": PASSWORD}
        answer = browser.post("/account/email", data=token | sent)

        assert page.headers["Location"].endswith("/confirm?back=account-email")
        assert answer.headers["Location"].endswith("/confirm?back=account-email")
        assert state(acme, user)[1] == email


class TestTheSession:
    def test_case_MT37_decision_M21_two_codes_to_one_mailbox_confirm_nothing(self, acme, email):
        """The owner has an authenticator, and has switched two-step sign-in off."""
        codes.reachable(acme)
        switch_on(acme, "Totp", "EmailVerificationCode")
        app = enrol(acme, acme.user(email=email, email_verified=True), two_step=False)
        thief = acme.browser()
        assert has_session(codes.enter(thief, email, codes.sent(thief, email)))
        codes.let_time_pass(acme)

        sent = thief.post(SEND, json={"type": "EmailVerificationCode"})
        page = thief.get("/account/security/authenticator")
        ways = thief.get(page.headers["Location"]).text
        by_mail = thief.post(CONFIRM, json={"type": "EmailVerificationCode", "code": "123456"})

        assert (sent.status_code, by_mail.status_code) == (403, 403)
        assert "EmailVerificationCode" not in ways
        with acme.active():
            assert Session.objects.get().level == 1
        assert thief.post(CONFIRM, json={"type": "Totp", "code": app.code()}).status_code == 200

    def test_decision_M43_a_password_of_an_earlier_sign_in_is_not_believed(self, acme, email):
        """A later sign-in with a code continues the session, and moves its time."""
        codes.reachable(acme)
        switch_on(acme, "Totp")
        user = acme.user(email=email, email_verified=True)
        app = enrol(acme, user)
        browser = factors.signed_in(acme, user, app)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=False)
            Session.objects.update(auth_time=timezone.now() - timedelta(minutes=6))

        assert has_session(
            codes.enter(browser, email, codes.sent(browser, email, number=2))
        )  # after the notice of the sign-in
        with acme.active():
            session = Session.objects.get()
        page = browser.get(ADD)

        assert session.level == 2
        assert "pwd" not in session.amr
        assert page.headers["Location"].endswith("/confirm?back=account-authenticator")

    @pytest.mark.parametrize("begins", [True, False])
    def test_decision_M43_a_session_alone_adds_no_factor(self, acme, email, begins):
        codes.reachable(acme)
        switch_on(acme, "Totp", "WebAuthn", "EmailVerificationCode")
        user = acme.user(email=email, email_verified=True)
        account.change(acme, user, password="")
        thief, phone = acme.browser(), device()
        assert has_session(codes.enter(thief, email, codes.sent(thief, email)))
        page, options = thief.get(ADD), ask(thief, "set_up")
        with acme.active():
            Session.objects.update(auth_time=timezone.now() - timedelta(minutes=6))

        if begins:
            tries = [thief.get(ADD), thief.post(passkeys.OPTIONS, json={"ceremony": "set_up"})]
            assert 'class="key"' not in tries[0].text
            assert tries[1].status_code == 403
        else:
            key = page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]
            typed = form(page).fields | {"code": App(key).code()}
            tries = [thief.post(ADD, data=typed), send(thief, "set_up", phone.create(options))]
            assert [answer.status_code for answer in tries] == [403, 403]
        with acme.active():
            assert not Authenticator.objects.exists()
            assert not Passkey.objects.exists()


class TestPasskeys:
    @pytest.fixture
    def owner(self, acme):
        passkeys.switch_on(acme, "WebAuthn", "Totp")
        return acme.user()

    def test_decision_M27_an_unknown_kind_signs_in_where_it_was_found_without_its_id(self, acme, owner):
        phone = device()
        passkeys.enrol(acme, owner, phone)
        with acme.active():
            Passkey.objects.update(is_discoverable=None)
        browser = acme.browser()

        answer = send(browser, "sign_in", phone.get(ask(browser, "sign_in")))

        assert has_session(answer), answer.text
        with acme.active():
            assert Passkey.objects.get().is_discoverable is True
            assert User.objects.get(pk=owner.pk).factors & 8

    def test_case_MT16_of_a_security_key_unknown_means_no(self, acme, owner):
        key = device(flags=0, step=1)
        passkeys.enrol(acme, owner, key, Ceremony.SET_UP_SECURITY_KEY, extension_results={})
        browser = acme.browser()

        answer = send(browser, "sign_in", key.get(ask(browser, "sign_in"), key=key.keys[0]))

        assert (answer.status_code, has_session(answer)) == (401, False)

    def test_decision_M23_one_of_another_address_is_not_asked_for(self, acme, owner):
        passkeys.enrol(acme, owner, device())
        app = enrol(acme, owner)
        browser = acme.browser()
        with acme.active():
            Passkey.objects.update(rp_id="old.example.com")

        step = factors.half(browser, owner)["next"]

        assert [method["type"] for method in step["methods"]] == ["Totp"]
        assert has_session(browser.post(factors.TOTP, json={"code": app.code()}))

    def test_decision_M23_nor_demanded_of_somebody_who_has_no_other(self, acme, owner):
        passkeys.switch_on(acme, "WebAuthn", policy="Mandatory")
        passkeys.enrol(acme, owner, device())
        browser = acme.browser()
        with acme.active():
            Passkey.objects.update(rp_id="old.example.com")

        step = factors.half(browser, owner)["next"]

        assert step["step"] == "set_up"
        assert browser.get(NEXT).json()["result"]["step"] == "set_up"
