"""Attacks on second factors and passkeys, over HTTP."""

import json
import time
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from identity.factors.challenges import Ceremony
from identity.factors.models import Authenticator, BackupCode, Passkey
from identity.sessions.models import Session
from identity.users.models import User
from management.administrators import tokens
from tests.support import factors, management, operators, passkeys
from tests.support.factors import App, enrol, half, has_session, switch_on
from tests.support.forms import forms
from tests.support.passkeys import OPTIONS, VERIFY, ask, device, send
from tests.support.threads import at_once

JUNK = ["é", "a.b", "x" * 2000, "00000000.AAAA", " ", "\0", "\ud800"]


class TestBackupCodes:
    @pytest.fixture
    def browser(self, acme):
        """Somebody whose only factor is one that the tenant does not ask for."""
        passkeys.switch_on(acme, "Totp", "BackupCode")
        user = acme.user()
        passkeys.enrol(acme, user, device())
        browser = acme.browser()
        assert has_session(browser.sign_in(user))
        return browser

    def test_a_session_alone_gets_none(self, acme, browser):
        answer = browser.post(factors.SET_UP_CODES, json={})

        assert answer.status_code == 400, answer.text
        with acme.active():
            assert not BackupCode.objects.exists()


class TestOneFactorAddsNone:
    @pytest.mark.parametrize("kind", ["authenticator", "passkey"])
    def test_case_MT7_of_half_sign_ins_at_once_one_sets_up_a_factor(self, acme, kind):
        passkeys.switch_on(acme, "Totp", "WebAuthn", policy="Mandatory")
        user = acme.user()
        attempts = [self._prepare(acme, user, kind) for _ in range(6)]

        answers = at_once(len(attempts), lambda index: attempts[index]())

        assert len([answer for answer in answers if has_session(answer)]) == 1
        with acme.active():
            assert Authenticator.objects.count() + Passkey.objects.count() == 1

    @staticmethod
    def _prepare(world, user, kind):
        """Prove the password in a browser, and return the request that sets a factor up."""
        browser = world.browser()
        half(browser, user)
        if kind == "passkey":
            credential = device().create(ask(browser, "set_up"))
            return lambda: send(browser, "set_up", credential)
        offer = browser.post(factors.SET_UP, json={}).json()["result"]
        body = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        return lambda: browser.post(factors.SET_UP_VERIFY, json=body)


class TestLinkedAccounts:
    def test_a_way_in_is_added_only_after_the_second_factor(self, acme):
        switch_on(acme, social="skip")
        user = acme.user()
        browser = factors.signed_in(acme, user, enrol(acme, user))
        with acme.active():
            Session.objects.update(second_factor_at=timezone.now() - timedelta(minutes=6))

        page = forms(browser.get("/account"))[0]
        answer = browser.post("/account/linked", data=page.fields | {"link": "x"})

        assert answer.status_code == 303
        assert answer.headers["Location"].endswith("/confirm?back=account-linked")


class TestSecurityKeys:
    def test_case_MT16_a_security_key_with_a_pin_signs_nobody_in_alone(self, acme):
        passkeys.switch_on(acme, "WebAuthn")
        user, key = acme.user(), device(flags=0, step=1)
        passkeys.enrol(acme, user, key, Ceremony.SET_UP_SECURITY_KEY)
        with acme.active():
            Passkey.objects.update(is_discoverable=False)

        browser = acme.browser()

        answer = send(browser, "sign_in", key.get(ask(browser, "sign_in"), key=key.keys[0]))

        assert (answer.status_code, has_session(answer)) == (401, False)


class TestLevels:
    @pytest.mark.parametrize("how", [{"prompt": "login"}, {"max_age": "0"}])
    def test_decision_M14_a_whole_new_sign_in_with_one_factor_has_one(self, acme, how):
        switch_on(acme)
        user, client = acme.user(), acme.application()
        browser = factors.signed_in(acme, user, enrol(acme, user))
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=False)
        time.sleep(1.1)
        interaction = browser.authorize(client, **how).headers["Location"].partition("interaction=")[2]

        assert has_session(browser.sign_in(user, interaction=interaction))

        with acme.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (1, ["pwd"])


class TestAdministrators:
    def test_case_MT32_an_old_token_gives_nobody_factors(self, acme):
        switch_on(acme)
        user = acme.user()
        enrol(acme, user)
        who = operators.administrator(tenants=[acme.tenant.slug])
        with time_machine.travel(time.time() - 600):
            token = tokens.issue(who)
        caller = management.Caller(acme, token)
        path = f"/users/{user.pk}/mfa-verifications"

        answers = [
            caller.post(path, type="Totp"),
            caller.post(path, type="BackupCode"),
            caller.patch(f"/users/{user.pk}/mfa-settings", two_step=False),
            caller.post(f"/users/{user.pk}/recovery-codes"),
        ]

        assert [answer.status_code for answer in answers] == [403] * 4
        with acme.active():
            assert Authenticator.objects.count() == 1
            assert not BackupCode.objects.exists()
            assert User.objects.get(pk=user.pk).two_step

    @pytest.mark.parametrize("role", ["support", "auditor"])
    def test_case_MT33_neither_support_nor_auditors_make_recovery_codes(self, acme, role):
        switch_on(acme)
        user = acme.user()
        who = operators.administrator(role=role, tenants=[acme.tenant.slug])
        caller = management.Caller(acme, tokens.issue(who))

        assert caller.post(f"/users/{user.pk}/recovery-codes").status_code == 403

    def test_case_MT32_of_another_tenant(self, acme, rival):
        switch_on(acme)
        theirs = rival.user()
        caller = management.superuser(acme)
        assert caller.post(f"/users/{theirs.pk}/recovery-codes").status_code == 404
        who = operators.administrator(tenants=[rival.tenant.slug])
        stranger = management.Caller(acme, tokens.issue(who))
        mine = acme.user()
        assert stranger.delete(f"/users/{mine.pk}/mfa-verifications").status_code in {401, 403, 404}


def _send_text(browser, path, body):
    return browser.post(path, content=body, headers={"Content-Type": "application/json"})


class TestMalformed:
    @pytest.mark.parametrize("junk", JUNK)
    def test_junk_is_no_error_of_the_server(self, acme, junk):
        passkeys.switch_on(acme, *factors.ALL, "WebAuthn", policy="Mandatory")
        user, proving, setting_up = acme.user(), acme.browser(), acme.browser()
        enrol(acme, user)
        half(proving, user)
        half(setting_up, acme.user())
        response = {"clientDataJSON": junk}
        credential = {"type": "public-key", "id": junk, "rawId": junk, "response": response}
        sent = [
            (proving, factors.TOTP, {"code": junk}),
            (proving, factors.BACKUP, {"code": junk}),
            (proving, "/api/interaction/mfa/recovery-code", {"code": junk}),
            (proving, factors.VERIFY, {"type": "EmailVerificationCode", "code": junk}),
            (proving, OPTIONS, {"ceremony": "sign_in", "identifier": junk}),
            (proving, OPTIONS, {"ceremony": "sign_in", "interaction": junk}),
            (proving, VERIFY, {"ceremony": "sign_in", "credential": {junk: junk}}),
            (proving, VERIFY, {"ceremony": "sign_in", "credential": credential}),
            (proving, VERIFY, {"ceremony": junk, "credential": {}}),
            (setting_up, factors.SET_UP_VERIFY, {"enrolment": junk, "code": "123456"}),
            (setting_up, factors.SET_UP_VERIFY, {"enrolment": junk, "code": junk, "name": junk}),
            (setting_up, VERIFY, {"ceremony": "set_up", "credential": credential, "name": junk}),
        ]

        for browser, path, body in sent:
            answer = _send_text(browser, path, json.dumps(body))
            assert answer.status_code < 500, (path, body)
            assert not has_session(answer)

    @pytest.mark.parametrize("depth", [500, 30_000])
    def test_deep_json_is_no_error_of_the_server(self, acme, depth):
        passkeys.switch_on(acme)
        nested = "[" * depth + "]" * depth

        answer = _send_text(acme.browser(), VERIFY, f'{{"ceremony":"sign_in","credential":{{"a":{nested}}}}}')

        assert 400 <= answer.status_code < 500
