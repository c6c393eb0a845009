"""What a user proves again to change the own second factors over the account API."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.challenges import Ceremony
from identity.sessions.models import Session
from tests.support import codes, passkeys
from tests.support.account import age_sign_in, change
from tests.support.cast import PASSWORD
from tests.support.factors import (
    SEND,
    SET_UP,
    enrol,
    has_session,
    signed_in,
)
from tests.support.management import refusal_of, result_of
from tests.support.own_factors import (
    CONFIRM,
    FACTORS,
    NOBODY,
    SETTINGS,
    add_authenticator,
    listed,
    remove,
    rename,
    send,
)


def age(world, by=timedelta(minutes=6)):
    """Let everything that was proven in the sessions of a tenant be older."""
    age_sign_in(world, by)
    with world.active():
        Session.objects.exclude(second_factor_at=None).update(second_factor_at=timezone.now() - by)
        Session.objects.exclude(password_confirmed_at=None).update(password_confirmed_at=timezone.now() - by)


def ways(answer):
    assert answer.status_code == 403, answer.text
    result = answer.json()["result"]
    assert result["reason"] == "confirm_needed"
    return result["ways"]


class TestConfirmation:
    """Each change needs a proof of the last five minutes: of the factor, and of the password."""

    def changes(self, browser, factor_id=NOBODY):
        return (
            browser.post(SET_UP, json={}),
            browser.post(FACTORS, json={"type": "Totp", "enrolment": "x", "code": "1"}),
            browser.post(FACTORS, json={"type": "WebAuthn", "credential": {}}),
            browser.post(FACTORS, json={"type": "BackupCode"}),
            rename(browser, factor_id, "x"),
            remove(browser, factor_id),
            send(browser, "PATCH", SETTINGS, {"two_step": False}),
        )

    def test_decision_M43_an_old_sign_in_needs_the_password(self, tenant, browser):
        age(tenant)

        assert [ways(answer) for answer in self.changes(browser)] == [[{"type": "Password"}]] * 7
        wrong = browser.post(CONFIRM, json={"password": "wrong"})
        refusal_of(wrong, 401)
        assert ways(browser.post(FACTORS, json={"type": "BackupCode"}))
        assert result_of(browser.post(CONFIRM, json={"password": PASSWORD})) is None

        add_authenticator(browser)
        age(tenant)
        assert ways(rename(browser, NOBODY, "x"))

    def test_decision_M43_the_factor_first_and_then_the_password(self, tenant, user):
        app = enrol(tenant, user)
        browser = signed_in(tenant, user, app)
        factor = listed(browser)[0]["id"]
        age(tenant)

        assert [ways(answer)[0] for answer in self.changes(browser, factor)] == [{"type": "Totp"}] * 7
        assert ways(browser.post(CONFIRM, json={"password": PASSWORD}))[0] == {"type": "Totp"}
        code = {"code": app.code(), "type": "Totp"}
        assert result_of(browser.post(CONFIRM, json=code)) is None
        assert ways(rename(browser, factor, "x")) == [{"type": "Password"}]
        assert result_of(browser.post(CONFIRM, json={"password": PASSWORD})) is None

        assert result_of(rename(browser, factor, "x"))["name"] == "x"
        assert browser.post(CONFIRM, json=code).status_code == 401  # a code is good once

    def test_decision_M43_a_code_by_email_confirms(self, tenant, user, browser):
        codes.reachable(tenant)
        address, email = codes.new_email(), {"type": "EmailVerificationCode"}
        change(tenant, user, email=address, email_key=address, email_verified=True)
        enrol(tenant, user)
        age(tenant)

        way = ways(rename(browser, NOBODY, "x"))[-1]
        result_of(browser.post(SEND, json=email))
        confirmed = browser.post(CONFIRM, json=email | {"code": codes.message_to(address)["code"]})

        assert way["type"] == email["type"]
        assert "•" in way["masked"]
        assert has_session(confirmed)

    def test_decision_M43_a_passkey_confirms(self, tenant, browser, user):
        device = passkeys.device()
        passkeys.enrol(tenant, user, device, Ceremony.SET_UP_SECURITY_KEY)
        age(tenant)
        assert ways(browser.post(CONFIRM, json={"password": PASSWORD}))[0] == {"type": "WebAuthn"}

        credential = device.get(passkeys.ask(browser, "confirm"))
        confirmed = browser.post(CONFIRM, json={"credential": credential})
        replayed = browser.post(CONFIRM, json={"credential": credential})

        assert result_of(confirmed) is None
        assert has_session(confirmed)
        assert (replayed.status_code, replayed.json()["result"]) == (401, {"reason": "passkey_refused"})

    def test_decision_M43_without_password_and_factor_the_user_signs_in_again(self, tenant, browser, user):
        age(tenant)
        change(tenant, user, password="")

        assert ways(rename(browser, NOBODY, "x")) == []
        answer = browser.post(CONFIRM, json={"password": PASSWORD})
        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert answer.json()["message"] == "password: the user has none"

    def test_case_MT7_a_password_is_no_proof_of_a_factor(self, tenant, browser, user):
        enrol(tenant, user)  # in another browser, after this one has signed in

        begun = browser.post(SET_UP, json={})

        assert ways(begun)[0] == {"type": "Totp"}

    def test_a_proof_that_is_wrong_is_counted(self, tenant, user):
        app = enrol(tenant, user)
        browser = signed_in(tenant, user, app)

        answers = [browser.post(CONFIRM, json={"code": "000000", "type": "Totp"}) for _ in range(11)]

        assert {answer.status_code for answer in answers} == {401}
        assert "Retry-After" in answers[-1].headers
        assert browser.post(CONFIRM, json={"code": app.code(), "type": "Totp"}).status_code == 401

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"password": PASSWORD, "code": "1", "type": "Totp"},
            {"code": "1"},
            {"code": "1", "type": "WebAuthn"},
            {"credential": "x"},
            {"type": "Totp"},
        ],
    )
    def test_exactly_one_proof_is_needed(self, browser, body):
        assert browser.post(CONFIRM, json=body).status_code == 400
