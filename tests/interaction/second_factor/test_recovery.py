"""Recovery codes of administrators: the right to set up a new factor, and nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator, BackupCode, RecoveryGrant
from identity.sessions.models import Session
from interaction.pending_sign_ins.models import PendingSignIn
from tests.support import audit_log, codes, factors, management, operators
from tests.support.cast import PASSWORD
from tests.support.factors import (
    NEXT,
    SET_UP,
    SET_UP_VERIFY,
    SKIP,
    TOTP,
    App,
    enrol,
    give_backup_codes,
    half,
    has_session,
    switch_on,
)
from tests.support.forms import forms
from tests.support.management import refusal_of
from tests.support.recovery_codes import issue, recover


@pytest.fixture
def user(acme):
    switch_on(acme)
    return acme.user()


class TestUse:
    def test_decision_M46_it_leads_to_a_new_factor_and_the_old_ones_go(self, acme, admin, user, app):
        spare = give_backup_codes(acme, user)
        code = issue(admin, user)
        browser = acme.browser()
        half(browser, user)

        recovered = recover(browser, code.lower().replace("-", " "))
        offer = browser.post(SET_UP, json={}).json()["result"]
        new = App(offer["secret"])
        done = browser.post(SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": new.code()})

        assert not has_session(recovered)
        assert recovered.json()["result"]["next"]["step"] == "set_up"
        assert not recovered.json()["result"]["next"]["skippable"]
        assert has_session(done)
        with acme.active():
            assert Authenticator.objects.count() == 1
            assert not BackupCode.objects.exists()
        again = acme.browser()
        half(again, user)
        assert again.post(TOTP, json={"code": app.code()}).status_code == 401
        assert again.post(factors.BACKUP, json={"code": spare[0]}).status_code == 403
        assert has_session(again.post(TOTP, json={"code": new.code()}))

    def test_case_MT11_it_reaches_nothing_but_that(self, acme, admin, user, app):
        code = issue(admin, user)
        browser = acme.browser()
        half(browser, user)
        recover(browser, code)

        assert browser.post(SKIP, json={}).status_code == 403
        assert browser.post(TOTP, json={"code": app.code()}).status_code == 403
        assert browser.get("/account").status_code == 303
        with acme.active():
            assert not Session.objects.exists()
            assert Authenticator.objects.count() == 1  # the old one stays until there is a new one

    def test_the_sign_in_keeps_the_time_of_its_first_factor(self, acme, admin, user, app):
        code = issue(admin, user)
        browser = acme.browser()
        half(browser, user)
        at = timezone.now() - timedelta(minutes=5)
        with acme.active():
            PendingSignIn.objects.update(auth_time=at)

        assert recover(browser, code).status_code == 200

        assert [row.auth_time for row in factors.pending(acme)] == [at]

    def test_without_the_first_factor_it_is_worth_nothing(self, acme, admin, user, app):
        code = issue(admin, user)

        answer = recover(acme.browser(), code)

        assert (answer.status_code, answer.json()["result"]) == (404, {"reason": "nothing_under_way"})

    def test_decision_M46_it_works_once(self, acme, admin, user, app):
        code = issue(admin, user)
        first, second = acme.browser(), acme.browser()
        half(first, user)
        half(second, user)

        recover(first, code)

        assert recover(second, code).status_code == 401

    def test_decision_M46_a_later_one_ends_it(self, acme, admin, user, app):
        old, new = issue(admin, user), issue(admin, user)
        browser = acme.browser()
        half(browser, user)

        assert recover(browser, old).status_code == 401
        assert recover(browser, new).status_code == 200

    def test_decision_M46_it_expires(self, acme, admin, user, app):
        code = issue(admin, user, expires_in=60)
        with acme.active():
            RecoveryGrant.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        browser = acme.browser()
        half(browser, user)

        assert recover(browser, code).status_code == 401

    def test_that_of_another_user_is_wrong(self, acme, admin, user, app):
        other = acme.user()
        enrol(acme, other)
        theirs = issue(admin, other)
        browser = acme.browser()
        half(browser, user)

        assert recover(browser, theirs).json()["result"] == {"reason": "second_factor_wrong"}
        assert browser.get(NEXT).json()["result"]["step"] == "second_factor"

    def test_the_log_says_who_made_it_and_who_used_it(self, acme, admin, user, app):
        code = issue(admin, user)
        browser = acme.browser()
        half(browser, user)
        recover(browser, code)

        made = audit_log.last(acme, "User.RecoveryCodeIssue")
        used = audit_log.last(acme, "User.RecoveryCodeUse")

        assert made.payload["administrator_id"] == int(used.payload["made_by"])
        assert used.user_id == str(user.pk)
        assert code.replace("-", "") not in str([vars(entry) for entry in audit_log.entries(acme)])

    def test_on_the_page(self, acme, admin, user, app):
        code = issue(admin, user)
        browser = acme.browser()
        half(browser, user)

        offered = browser.get("/sign-in/second-factor")
        chosen = browser.get("/sign-in/second-factor?with=RecoveryCode")
        form = next(one for one in forms(chosen) if "code" in one.fields)
        wrong = form.submit(browser, code="x")
        right = form.submit(browser, code=code)

        assert "with=RecoveryCode" in offered.text
        assert wrong.status_code == 401
        assert right.headers["Location"].endswith("/sign-in/set-up")


class TestWithoutAFactor:
    """A user who has no factor, in a tenant that demands one. The user can set one up without a code."""

    @pytest.fixture
    def browser(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        assert half(browser, user)["next"]["step"] == "set_up"
        return browser

    def test_decision_M46_a_wrong_code_is_401_as_for_other_users(self, browser):
        answer = recover(browser, "ABCD-EFGH")

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "second_factor_wrong"})

    def test_decision_M46_a_right_code_leads_to_a_new_factor(self, acme, admin, user, browser):
        code = issue(admin, user)

        answer = recover(browser, code)
        again = recover(browser, code)

        assert not has_session(answer)
        assert answer.json()["result"]["next"]["step"] == "set_up"
        assert again.status_code == 401
        assert audit_log.last(acme, "User.RecoveryCodeUse").user_id == str(user.pk)

    def test_case_MT12_wrong_codes_lock_the_codes_of_the_user(self, browser):
        answers = [recover(browser, f"WRONG-{number}").status_code for number in range(10)]

        assert answers == [401] * 10
        assert recover(browser, "WRONG").status_code == 404  # the sign-in has ended


class TestIssue:
    def test_the_person_is_told_and_not_the_code(self, acme, admin):
        switch_on(acme)
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        enrol(acme, user)

        code = issue(admin, user)

        message = codes.message_to(email)
        assert "A recovery code was created" in message["subject"]
        assert code not in str(message)

    @pytest.mark.parametrize("role", ["support", "auditor"])
    def test_case_MT33_only_administrators_make_one(self, acme, user, app, role):
        who = operators.administrator(role=role, tenants=[acme.tenant.slug])
        token = management.administrator_token(who.username, PASSWORD, acme.address)

        refusal_of(management.Caller(acme, token).post(f"/users/{user.pk}/recovery-codes"), 403)

    @pytest.mark.parametrize("seconds", [0, 86_401, "1", None])
    def test_decision_M46_it_lives_a_day_at_most(self, admin, user, app, seconds):
        refusal_of(admin.post(f"/users/{user.pk}/recovery-codes", expires_in=seconds), 400)

    def test_where_nothing_can_be_set_up_there_is_none(self, acme, admin):
        switch_on(acme, "EmailVerificationCode")

        refusal_of(admin.post(f"/users/{acme.user().pk}/recovery-codes"), 400)

    def test_a_user_of_another_tenant_is_unknown(self, rival, admin, user):
        refusal_of(admin.post(f"/users/{rival.user().pk}/recovery-codes"), 404)
