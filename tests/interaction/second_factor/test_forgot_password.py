"""A forgotten password of somebody who has a second factor: the mailbox alone replaces nothing."""

import pytest

from identity.factors.models import RecoveryGrant
from identity.sessions.models import Session
from identity.users import assigned_passwords, credentials
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.journeys.second_factor import resetting
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.verification import services as verification
from interaction.verification.models import VerificationCode
from tests.support import audit_log, codes, management
from tests.support.cast import PASSWORD
from tests.support.codes import RESET, new_email
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    SET_UP,
    SKIP,
    TOTP,
    App,
    enrol,
    give_backup_codes,
    half,
    has_session,
    pending,
    switch_on,
)
from tests.support.forms import forms
from tests.support.management import result_of
from tests.support.threads import at_once

NEW = "another password 2"
RECOVER = "/api/interaction/mfa/recovery-code"


@pytest.fixture
def user(user_with_email):
    return user_with_email


def reset(browser, email, password=NEW, **fields):
    return browser.post(RESET, json={"identifier": email, "new_password": password} | fields)


def asked(acme, email):
    """A browser that proved the mailbox and was asked for the second factor."""
    codes.let_time_pass(acme)
    browser, earlier = acme.browser(), len(codes.messages_to(email))
    code = codes.sent(browser, email, "forgot_password", number=earlier + 1)
    assert codes.enter(browser, email, code, "forgot_password").status_code == 200
    answer = reset(browser, email)
    assert answer.status_code == 401, answer.text
    return browser


def password_of(acme, user):
    """Which of the two passwords is right now."""
    with acme.active():
        return next(
            password for password in (PASSWORD, NEW) if _is_right(User.objects.get(pk=user.pk), password)
        )


def _is_right(user, password):
    try:
        credentials.check_password(user, password)
    except credentials.InvalidCredentials:
        return False
    return True


class TestTheStep:
    def test_decision_M22_the_factor_is_asked_for_before_the_password_counts(self, acme, email, user, app):
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")

        refused = reset(browser, email)
        step = browser.get(NEXT).json()["result"]
        proven = browser.post(TOTP, json={"code": app.code()})
        done = reset(browser, email)

        assert (refused.status_code, refused.json()["result"]) == (401, "")
        assert (step["step"], step["reasons"]) == ("second_factor", ["forgot_password"])
        assert [method["type"] for method in step["methods"]] == ["Totp"]
        assert not step["skippable"]
        assert (proven.status_code, has_session(proven)) == (200, False)
        assert proven.json()["result"]["redirect_to"].endswith("/forgot-password")
        assert done.status_code == 200
        assert password_of(acme, user) == NEW
        with acme.active():
            assert not Session.objects.exists()

    def test_a_password_that_changes_meanwhile_ends_the_proof_of_the_address(self, acme, user, app):
        with acme.active():
            current, proof = User.objects.get(pk=user.pk), VerificationCode(kind=Kind.EMAIL)
            assigned_passwords.set_password(User.objects.get(pk=user.pk), NEW, is_proven=True)

            with pytest.raises(verification.NotVerified):
                resetting.check(current, proof, Visit("b" * 64, None, None), experiences.current())

    def test_decision_M35_it_remembers_no_browser(self, acme, email, user, app):
        with acme.active():
            experiences.change({"trusted_device_policy": {"enabled": True}}, is_proven=True)
        browser = asked(acme, email)

        step, page = browser.get(NEXT).json()["result"], browser.get("/sign-in/second-factor").text

        assert step["may_remember"] is False
        assert 'name="code"' in page
        assert 'name="remember"' not in page

    def test_decision_M22_the_request_of_an_application_goes_along(self, acme, email, user, app):
        browser = acme.browser()
        place = browser.authorize(acme.application()).headers["Location"]
        interaction = place.partition("interaction=")[2]
        codes.proven(browser, email, "forgot_password")

        assert reset(browser, email, interaction=interaction).status_code == 401
        proven = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert proven.json()["result"]["redirect_to"].endswith(f"/forgot-password?interaction={interaction}")
        assert reset(browser, email, interaction=interaction).status_code == 200

    def test_decision_M22_a_backup_code_counts_and_is_used_up(self, acme, email, user, app):
        spare = give_backup_codes(acme, user)[0]
        browser = asked(acme, email)

        assert browser.post(BACKUP, json={"code": spare}).status_code == 200
        assert reset(browser, email).status_code == 200

        again = acme.browser()
        half(again, user, password=NEW)
        assert again.post(BACKUP, json={"code": spare}).status_code == 401

    def test_decision_M22_codes_to_an_address_do_not_count(self, acme, email, user, app):
        browser = asked(acme, email)

        sent = browser.post(SEND, json={"type": "EmailVerificationCode"})

        assert (sent.status_code, sent.json()["result"]) == (403, {"reason": "factor_not_allowed"})

    def test_decision_M22_nobody_else_is_asked(self, acme, email, user):
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")

        assert reset(browser, email).status_code == 200

    def test_decision_M22_a_tenant_can_switch_it_off(self, acme, email, user, app):
        admin = management.superuser(acme)
        shown = result_of(admin.get("/sign-in-experience"))
        changed = result_of(admin.patch("/sign-in-experience", forgot_password_requires_factor=False))
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")

        assert shown["forgot_password_requires_factor"] is True
        assert changed["forgot_password_requires_factor"] is False
        assert reset(browser, email).status_code == 200

    def test_decision_M22_front_ends_see_no_new_member(self, acme):
        shown = acme.get("/api/interaction/sign-in-experience").json()["result"]

        assert "forgot_password_requires_factor" not in shown

    def test_decision_M53_the_log_tells_both_steps(self, acme, email, user, app):
        browser = asked(acme, email)
        refused = audit_log.last(acme, "ForgotPassword")
        browser.post(TOTP, json={"code": app.code()})
        proven = audit_log.last(acme, "Mfa.Verify")

        assert refused.payload["error"] == "second_factor_missing"
        assert proven.payload == {"type": "Totp", "result": "success", "way": "forgot_password"}
        assert proven.user_id == str(user.pk)


class TestThePower:
    def test_case_MT1_MT5_it_never_becomes_a_session(self, acme, email, user, app):
        client, browser = acme.application(), asked(acme, email)

        answers = [
            browser.post(SKIP, json={}),
            browser.post(SET_UP, json={}),
            browser.post(TOTP, json={"code": app.code()}),
            browser.post(TOTP, json={"code": app.code()}),
            browser.post(SKIP, json={}),
        ]

        assert [answer.status_code for answer in answers] == [403, 403, 200, 404, 404]
        assert not any(map(has_session, answers))
        assert browser.get(NEXT).json()["result"] == {"step": "sign_in"}
        assert browser.get("/account").status_code == 303
        assert browser.get("/api/my-account/sessions").status_code == 401
        assert "/sign-in?" in browser.authorize(client).headers["Location"]
        with acme.active():
            assert not Session.objects.exists()

    def test_case_MT5_a_half_sign_in_is_no_proof_for_it(self, acme, email, user, app):
        """Somebody who knows the password and the factor is signed in, and not further with the reset."""
        browser = asked(acme, email)
        half(browser, user)
        browser.post(TOTP, json={"code": app.code()})

        assert reset(browser, email).status_code == 401

    def test_case_MT2_the_proof_is_of_one_browser(self, acme, email, user, app):
        browser, other = asked(acme, email), asked(acme, email)
        browser.post(TOTP, json={"code": app.code()})

        assert reset(other, email).status_code == 401
        assert other.post(TOTP, json={"code": "000000"}).status_code == 401
        assert reset(browser, email).status_code == 200

    def test_case_MT2_the_proof_is_of_one_user(self, acme, email, user, app):
        to = new_email()
        other = acme.user(email=to, email_verified=True)
        enrol(acme, other)
        browser = asked(acme, email)
        browser.post(TOTP, json={"code": app.code()})
        codes.proven(browser, to, "forgot_password")

        assert reset(browser, to).status_code == 401

    def test_case_MT3_another_tenant_cannot_go_on(self, acme, rival, email, user, app):
        switch_on(rival)
        browser, other = asked(acme, email), rival.browser()
        for name, value in browser.http.cookies.items():
            other.http.cookies.set(name.replace(acme.tenant.slug, rival.tenant.slug), value)

        assert other.post(TOTP, json={"code": app.code()}).status_code == 404

    def test_case_MT4_a_new_password_ends_it(self, acme, email, user, app):
        browser = asked(acme, email)
        browser.post(TOTP, json={"code": app.code()})
        with acme.active():
            assigned_passwords.set_password(
                User.objects.get(pk=user.pk), "an other 1 entirely", is_proven=True
            )

        assert reset(browser, email).status_code == 400

    def test_case_MT4_a_factor_that_is_added_meanwhile_is_asked_for(self, acme, email, user):
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")
        enrol(acme, user)

        assert reset(browser, email).status_code == 401

    def test_case_MT12_ten_wrong_codes_end_it(self, acme, email, user, app):
        browser = asked(acme, email)

        for _ in range(10):
            browser.post(TOTP, json={"code": "000000"})

        assert browser.post(TOTP, json={"code": app.code()}).status_code == 404
        assert pending(acme)[0].done_at is None
        assert reset(browser, email).status_code == 401

    def test_one_of_eight_concurrent_codes_is_used(self, acme, email, user, app):
        browser = asked(acme, email)
        code = app.code()

        answers = at_once(8, lambda _: browser.post(TOTP, json={"code": code}))

        assert [answer.status_code for answer in answers].count(200) == 1


class TestTheWayOn:
    def test_decision_M46_a_recovery_code_replaces_the_factor_and_stays_for_the_sign_in(
        self, acme, email, user, app
    ):
        admin = management.superuser(acme)
        code = result_of(admin.post(f"/users/{user.pk}/recovery-codes"))["code"]
        codes.message_to(email)  # the notice of it
        browser = asked(acme, email)

        wrong = browser.post(RECOVER, json={"code": "AAAA-AAAA-AAAA-AAAA"})
        proven = browser.post(RECOVER, json={"code": code})
        done = reset(browser, email)

        assert (wrong.status_code, proven.status_code, done.status_code) == (401, 200, 200)
        assert not has_session(proven)
        with acme.active():
            assert RecoveryGrant.objects.get().used_at is None
        half(browser, user, password=NEW)
        assert browser.post(RECOVER, json={"code": code}).json()["result"]["next"]["step"] == "set_up"
        offer = browser.post(SET_UP, json={}).json()["result"]
        verify = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        assert has_session(browser.post(f"{SET_UP}/verify", json=verify))

    def test_the_pages_do_it_without_a_script(self, acme, email, user, app):
        browser = acme.browser()
        typed = field(browser.get("/forgot-password"), "identifier").submit(browser, identifier=email)
        code = codes.message_to(email)["code"]
        asked = field(typed, "code").submit(browser, code=code)

        assert asked.headers["Location"].endswith("/sign-in/second-factor")
        step = browser.get("/sign-in/second-factor")
        assert "?with=RecoveryCode" in step.text
        assert "Keep it" in browser.get("/sign-in/second-factor?with=RecoveryCode").text
        proven = field(step, "code").submit(browser, code=app.code())
        assert proven.headers["Location"].endswith("/forgot-password")
        done = field(browser.get("/forgot-password"), "new_password").submit(browser, new_password=NEW)
        assert done.status_code == 200
        assert password_of(acme, user) == NEW

    def test_a_page_that_was_open_leads_to_the_factor(self, acme, email, user, app):
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")
        page = field(browser.get("/forgot-password"), "new_password")

        answer = page.submit(browser, new_password=NEW)

        assert answer.status_code == 303
        assert answer.headers["Location"].endswith("/sign-in/second-factor")
        assert password_of(acme, user) == PASSWORD


def field(page, name):
    """The form of a page that has a field."""
    return next(one for one in forms(page) if name in one.fields)
