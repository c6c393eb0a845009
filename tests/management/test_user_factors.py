"""The second factors of users in the management API."""

import base64
import secrets
import time
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine

from identity.factors import admin as admin_pages
from identity.factors.models import Authenticator, BackupCode
from identity.factors.services import NoSuchFactor
from identity.sessions.models import Session
from identity.users.models import User
from management.administrators import tokens
from tests.support import account, audit_log, codes, factors, management, operators
from tests.support.cast import PASSWORD
from tests.support.factors import App, enrol, give_backup_codes, half, has_session, is_signed_in, switch_on
from tests.support.management import refusal_of, result_of

UNKNOWN = "0198a000-0000-7000-8000-000000000000"


def test_a_factor_that_was_removed_meanwhile_is_unknown_on_the_site_too(acme):
    submission: Any = SimpleNamespace(row=acme.user(), fields={"factor": UNKNOWN})

    with acme.active(), pytest.raises(NoSuchFactor):
        admin_pages._remove(submission)


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def admin(acme):
    switch_on(acme)
    return management.superuser(acme)


def path(user, tail=""):
    return f"/users/{user.pk}/mfa-verifications{tail}"


class TestReading:
    def test_decision_M48_it_lists_what_the_user_has(self, acme, admin, user):
        codes.reachable(acme)
        with acme.active():
            User.objects.filter(pk=user.pk).update(
                email="ada@example.com", email_key="ada@example.com", email_verified=True
            )
        enrol(acme, user)
        give_backup_codes(acme, user)

        app, spare, email = result_of(admin.get(path(user)))

        assert app.keys() == {"id", "type", "name", "created_at", "last_used_at"}
        assert (app["type"], app["last_used_at"]) == ("Totp", None)
        assert spare.keys() == {"id", "type", "remaining", "created_at", "last_used_at"}
        assert (spare["type"], spare["remaining"]) == ("BackupCode", 10)
        assert email == {"id": None, "type": "EmailVerificationCode", "masked": "a•••@e•••.com"}

    def test_decision_M9_no_answer_has_a_secret(self, acme, admin, user):
        app = enrol(acme, user)

        shown = admin.get(path(user)).text + admin.get(f"/users/{user.pk}").text

        assert app.key.replace(" ", "") not in shown
        with acme.active():
            assert Authenticator.objects.get().sealed_secret not in shown

    def test_decision_M48_users_say_which_kinds_they_have(self, acme, admin, user):
        enrol(acme, user)
        acme.user()

        shown = result_of(admin.get(f"/users/{user.pk}"))

        assert (shown["mfa_factors"], shown["two_step"]) == (["Totp"], True)
        assert "factors" not in shown
        for value, number in (("any", 1), ("none", 1), ("phishing_resistant", 0)):
            assert result_of(admin.get("/users", mfa=value))["total"] == number
        assert admin.get("/users", mfa="some").status_code == 400

    def test_a_user_of_another_tenant_is_unknown(self, acme, rival, admin):
        stranger = rival.user()

        assert admin.get(path(stranger)).status_code == 404
        assert admin.post(path(stranger), type="Totp").status_code == 404
        assert admin.delete(path(stranger)).status_code == 404
        assert admin.get(f"/users/{stranger.pk}/mfa-settings").status_code == 404
        assert admin.patch(f"/users/{stranger.pk}/mfa-settings", two_step=True).status_code == 404


class TestSettingUp:
    def test_decision_M48_an_authenticator(self, acme, admin, user):
        answer = admin.post(path(user), type="Totp", name="Phone")

        made = result_of(answer)
        assert made.keys() == {"id", "type", "secret", "secret_qr_code"}
        assert made["secret_qr_code"].startswith("data:image/svg+xml")
        assert answer.headers["Cache-Control"] == "no-store"
        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(factors.TOTP, json={"code": App(made["secret"]).code()}))
        assert made["secret"] not in str(vars(audit_log.last(acme, "Mfa.Create")))

    def test_a_secret_of_another_system(self, acme, admin, user):
        secret = base64.b32encode(secrets.token_bytes(20)).decode()

        made = result_of(admin.post(path(user), type="Totp", secret=secret))
        again = admin.post(path(user), type="Totp", secret=secret.lower())

        assert made["secret"] == secret
        assert "secret: is already that of an authenticator" in refusal_of(again, 400)

    @pytest.mark.parametrize("secret", ["short", "0" * 32, "A" * 65])
    def test_a_secret_that_is_none_is_refused(self, admin, user, secret):
        answer = admin.post(path(user), type="Totp", secret=secret)

        assert answer.status_code == 400
        assert "secret" in answer.json()["message"]

    def test_backup_codes(self, acme, admin, user):
        refused = admin.post(path(user), type="BackupCode")
        enrol(acme, user)
        made = result_of(admin.post(path(user), type="BackupCode"))

        assert refused.status_code == 400
        assert made.keys() == {"type", "codes"}
        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(factors.BACKUP, json={"code": made["codes"][0]}))

    @pytest.mark.parametrize("kind", ["WebAuthn", "EmailVerificationCode", "Pigeon", ""])
    def test_the_others_cannot_be_set_up_for_somebody(self, admin, user, kind):
        assert admin.post(path(user), type=kind).status_code == 400


class TestRemoving:
    def test_decision_M47_a_reset_removes_everything_and_ends_everything(self, acme, admin, user):
        app = enrol(acme, user)
        give_backup_codes(acme, user)
        browser = factors.signed_in(acme, user, app)

        result_of(admin.delete(path(user)))

        with acme.active():
            assert not Authenticator.objects.exists()
            assert not BackupCode.objects.exists()
            assert not Session.objects.live().exists()
        assert not is_signed_in(browser)
        assert has_session(acme.browser().sign_in(user))
        assert audit_log.last(acme, "Mfa.Reset").payload["id"] == str(user.pk)

    def test_one_factor(self, acme, admin, user):
        enrol(acme, user)
        enrol(acme, user)
        first = result_of(admin.get(path(user)))[0]["id"]

        result_of(admin.delete(path(user, f"/{first}")))

        assert len(result_of(admin.get(path(user)))) == 1
        for unknown in (first, UNKNOWN, "x"):
            assert admin.delete(path(user, f"/{unknown}")).status_code == 404

    def test_case_MT32_the_factor_of_another_user_is_unknown(self, acme, rival, admin, user):
        other, stranger = acme.user(), rival.user()
        enrol(acme, other)
        enrol(rival, stranger)
        with acme.active():
            theirs = [Authenticator.objects.get().pk]
        with rival.active():
            theirs.append(Authenticator.objects.get().pk)

        for pk in theirs:
            assert admin.delete(path(user, f"/{pk}")).status_code == 404

    def test_the_person_is_told(self, acme, admin):
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        enrol(acme, user)

        admin.delete(path(user))

        assert "Two-step sign-in was reset" in codes.message_to(email)["subject"]

    def test_an_old_sign_in_removes_nothing(self, acme, admin, user):
        enrol(acme, user)
        who = operators.administrator(tenants=[acme.tenant.slug])
        with time_machine.travel(time.time() - 600):
            token = tokens.issue(who)
        caller = management.Caller(acme, token)

        assert caller.get(path(user)).status_code == 200
        assert caller.delete(path(user)).status_code == 403
        with acme.active():
            assert Authenticator.objects.exists()

    @pytest.mark.parametrize("role", ["support", "auditor"])
    def test_decision_M48_only_administrators_change_factors(self, acme, admin, user, role):
        enrol(acme, user)
        who = operators.administrator(role=role, tenants=[acme.tenant.slug])
        token = management.administrator_token(who.username, PASSWORD, acme.address)
        helper = management.Caller(acme, token)

        assert helper.get(path(user)).status_code == 200
        for answer in (
            helper.post(path(user), type="Totp"),
            helper.delete(path(user)),
            helper.patch(f"/users/{user.pk}/mfa-settings", two_step=False),
        ):
            assert answer.status_code == 403


class TestSettings:
    def test_decision_M48_two_step_can_be_switched(self, acme, admin, user):
        enrol(acme, user)

        before = result_of(admin.get(f"/users/{user.pk}/mfa-settings"))
        after = result_of(admin.patch(f"/users/{user.pk}/mfa-settings", two_step=False))

        assert before == {"two_step": True, "prompt_skipped_at": None}
        assert after["two_step"] is False
        assert has_session(acme.browser().sign_in(user))
        assert account.entries(acme, "Mfa.SettingsUpdate")[0].payload["two_step"] is False
