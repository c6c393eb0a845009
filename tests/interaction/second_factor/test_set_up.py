"""Setting up an authenticator during a sign-in, where the tenant asks for it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator, BackupCode
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import audit_log, authenticator, codes, factors, passkeys
from tests.support.cast import PASSWORD, query_of
from tests.support.factors import (
    BACKUP,
    NEXT,
    SET_UP,
    SET_UP_CODES,
    SET_UP_VERIFY,
    SKIP,
    TOTP,
    App,
    enrol,
    half,
    has_session,
    is_signed_in,
    switch_on,
)


@pytest.fixture
def strict(acme):
    """A tenant that lets nobody in without a second factor."""
    return switch_on(acme, "Totp", "BackupCode", policy="Mandatory")


def begin(browser, **fields):
    """Get a secret, and return its authenticator with the sealed secret."""
    answer = browser.post(SET_UP, json=fields)
    assert answer.status_code == 200, answer.text
    offer = answer.json()["result"]
    return App(offer["secret"]), offer["enrolment"]


class TestMandatory:
    def test_decision_M42_the_new_factor_completes_the_sign_in(self, strict, user):
        browser = strict.browser()

        first = half(browser, user)
        app, enrolment = begin(browser)
        answer = browser.post(
            SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code(), "name": "Phone"}
        )

        assert first["next"] == {
            "step": "set_up",
            "methods": [{"type": "Totp"}],
            "preferred": "Totp",
            "may_remember": False,
            "skippable": False,
            "reasons": ["tenant"],
            "least_acr": "urn:service:acr:2fa",
            "redirect_to": first["redirect_to"],
        }
        assert first["redirect_to"].endswith("/sign-in/set-up")
        assert has_session(answer)
        with strict.active():
            session, stored = Session.objects.get(), Authenticator.objects.get()
            assert User.objects.get(pk=user.pk).two_step
        assert (session.level, session.amr) == (2, ["pwd", "otp", "mfa"])
        assert stored.name == "Phone"
        assert audit_log.last(strict, "Mfa.Create").payload["type"] == "Totp"

    def test_decision_M44_the_first_factor_ends_other_sessions(self, acme, user):
        old = acme.browser()
        old.sign_in(user)
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        half(browser, user)
        app, enrolment = begin(browser)

        browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})

        assert is_signed_in(browser)
        assert not is_signed_in(old)

    def test_decision_M32_backup_codes_come_after_it(self, strict, user):
        browser = strict.browser()
        half(browser, user)
        app, enrolment = begin(browser)

        done = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})
        following = browser.get(NEXT).json()["result"]
        made = browser.post(SET_UP_CODES, json={})

        assert done.json()["result"]["redirect_to"].endswith("/sign-in/backup-codes")
        assert following["step"] == "backup_codes"
        result = made.json()["result"]
        assert len(set(result["codes"])) == 10
        assert result["redirect_to"].endswith("/account")
        assert browser.get(NEXT).json()["result"]["step"] == "done"
        with strict.active():
            stored = list(BackupCode.objects.values_list("digest", flat=True))
        assert not any(code.replace("-", "") in digest for code in result["codes"] for digest in stored)
        again = strict.browser()
        half(again, user)
        assert has_session(again.post(BACKUP, json={"code": result["codes"][3]}))

    def test_decision_M32_a_sign_in_with_a_factor_of_earlier_does_not_ask_for_them(self, strict, user):
        app = enrol(strict, user)
        with strict.active():
            Authenticator.objects.update(created_at=timezone.now() - timedelta(minutes=6))
        browser = strict.browser()
        half(browser, user)

        done = browser.post(TOTP, json={"code": app.code()})

        assert done.json()["result"]["redirect_to"].endswith("/account")
        assert browser.get(NEXT).json()["result"]["step"] == "done"
        assert browser.get("/sign-in/backup-codes").headers["Location"].endswith("/account")

    @pytest.mark.parametrize(("left", "leads"), [(3, False), (2, True), (1, True), (0, True)])
    def test_decision_M32_a_backup_code_leads_to_new_ones_when_few_are_left(self, strict, user, left, leads):
        enrol(strict, user)
        with strict.active():
            Authenticator.objects.update(created_at=timezone.now() - timedelta(minutes=6))
        own = factors.give_backup_codes(strict, user)
        with strict.active():
            for code in own[left + 1 :]:
                factors.use_backup_code(user, code)
            BackupCode.objects.exclude(used_at=None).update(used_at=timezone.now() - timedelta(minutes=6))
        browser = strict.browser()
        half(browser, user)

        done = browser.post(BACKUP, json={"code": own[0]})
        following = browser.get(NEXT).json()["result"]
        page = browser.get("/sign-in/backup-codes")

        assert done.json()["result"]["redirect_to"].endswith("/sign-in/backup-codes") is leads
        assert following["step"] == ("backup_codes" if leads else "done")
        assert (page.status_code == 200) is leads
        assert ("Your present backup codes stop working" in page.text) is (leads and left > 0)
        if leads:
            made = browser.post(SET_UP_CODES, json={}).json()["result"]
            assert len(made["codes"]) == 10
            assert browser.get(NEXT).json()["result"]["step"] == "done"

    def test_case_MT6_it_cannot_be_skipped(self, strict, user):
        browser = strict.browser()
        half(browser, user)

        answer = browser.post(SKIP, json={})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert answer.json()["message"] == "this step cannot be skipped"
        assert not is_signed_in(browser)

    def test_a_new_user_sets_it_up_too(self, strict):
        browser = strict.browser()
        registered = browser.post(codes.REGISTER, json={"username": "new-here", "password": PASSWORD})
        assert not has_session(registered)
        app, enrolment = begin(browser)

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})

        assert registered.json()["result"]["next"]["step"] == "set_up"
        assert has_session(answer)
        assert audit_log.last(strict, "Register.Username").payload["result"] == "success"
        assert audit_log.last(strict, "SignIn.FirstFactor").payload["way"] == "register"
        assert audit_log.last(strict, "SignIn.Password").payload["factors"] == ["Totp"]

    def test_decision_A1_a_new_user_who_sets_up_two_factors_is_recorded_once(self, acme):
        passkeys.switch_on(acme, "Totp", "WebAuthn", policy="Mandatory")
        browser = acme.browser()
        place = browser.authorize(acme.application(), acr_values="phr").headers["Location"]
        interaction = {"interaction": query_of(place)["interaction"]}
        browser.post(codes.REGISTER, json={"username": "new-here", "password": PASSWORD, **interaction})
        app, enrolment = begin(browser, **interaction)

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code(), **interaction})

        assert answer.json()["result"]["next"]["methods"] == [{"type": "WebAuthn"}], answer.text
        assert len(audit_log.entries(acme, "Register.Username")) == 1
        assert len(audit_log.entries(acme, "SignIn.FirstFactor")) == 2
        assert not audit_log.entries(acme, "SignIn.Password")  # there is no session yet


class TestWhoMay:
    def test_case_MT7_a_password_adds_no_factor_beside_another(self, strict, user):
        app = enrol(strict, user)
        browser = strict.browser()
        half(browser, user)

        begun = browser.post(SET_UP, json={})

        assert (begun.status_code, begun.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert has_session(browser.post(TOTP, json={"code": app.code()}))

    def test_case_MT8_a_secret_of_another_user_is_refused(self, strict, user):
        browser, other = strict.browser(), strict.user()
        half(browser, user)
        app, enrolment = begin(browser)
        half(browser, other)

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})

        assert (answer.status_code, answer.json()["result"]) == (400, {"reason": "enrolment_expired"})

    def test_case_MT8_a_secret_of_another_browser_is_refused(self, strict, user):
        browser, other = strict.browser(), strict.browser()
        half(browser, user)
        half(other, user)
        app, enrolment = begin(browser)

        answer = other.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})

        assert answer.json()["result"] == {"reason": "enrolment_expired"}

    def test_case_MT8_a_secret_of_another_tenant_is_refused(self, strict, rival, user):
        switch_on(rival, "Totp", policy="Mandatory")
        browser, other = strict.browser(), rival.browser()
        half(browser, user)
        half(other, rival.user())
        app, enrolment = begin(other)

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": app.code()})

        assert answer.json()["result"] == {"reason": "enrolment_expired"}

    @pytest.mark.parametrize("enrolment", ["x", "MFRGG43FMZQXG5A", "00000000.AAAA"])
    def test_case_MT8_a_secret_that_the_client_made_is_refused(self, strict, user, enrolment):
        browser = strict.browser()
        half(browser, user)

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": "123456"})

        assert answer.json()["result"] == {"reason": "enrolment_expired"}

    def test_case_MT9_the_code_of_the_set_up_counts_once(self, strict, user):
        browser = strict.browser()
        half(browser, user)
        app, enrolment = begin(browser)
        code = app.code()
        browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": code})

        again = strict.browser()
        half(again, user)

        assert again.post(TOTP, json={"code": code}).status_code == 401
        assert has_session(again.post(TOTP, json={"code": app.code()}))

    def test_a_wrong_code_sets_nothing_up(self, strict, user):
        browser = strict.browser()
        half(browser, user)
        app, enrolment = begin(browser)
        right = app.code()

        answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": codes.other_than(right)})

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "second_factor_wrong"})
        with strict.active():
            assert not Authenticator.objects.exists()
        assert has_session(browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": right}))


class TestTheOffer:
    @pytest.fixture
    def offering(self, acme):
        """A tenant that offers a second factor once."""
        return switch_on(acme, "Totp", policy="PromptOnlyAtSignIn")

    def test_decision_M15_it_may_be_skipped_and_is_made_once(self, offering, user):
        browser = offering.browser()

        first = half(browser, user)
        skipped = browser.post(SKIP, json={})

        assert (first["next"]["step"], first["next"]["skippable"]) == ("set_up", True)
        assert has_session(skipped)
        assert audit_log.last(offering, "Mfa.Skip").user_id == str(user.pk)
        assert audit_log.last(offering, "SignIn.Password").payload["acr"] == "urn:service:acr:1fa"
        assert has_session(offering.browser().sign_in(user))

    def test_decision_M15_a_new_user_gets_it_at_the_next_sign_in(self, offering):
        registered = offering.browser().post(
            codes.REGISTER, json={"username": "new-here", "password": PASSWORD}
        )
        assert has_session(registered)

        answer = offering.browser().post(
            "/api/interaction/sign-in", json={"identifier": "new-here", "password": PASSWORD}
        )

        assert answer.json()["result"]["next"]["step"] == "set_up"

    def test_decision_M15_or_at_once(self, acme):
        switch_on(acme, "Totp", policy="PromptAtSignInAndSignUp")
        registered = acme.browser().post(codes.REGISTER, json={"username": "new-here", "password": PASSWORD})

        assert registered.json()["result"]["next"]["skippable"]

    def test_case_MT40_a_clock_may_be_wrong_by_one_step(self, offering, user):
        factors.at_the_start_of_a_step()
        for ahead, status in ((-2, 401), (2, 401), (-1, 200), (1, 200)):
            browser = offering.browser()
            with offering.active():
                Authenticator.objects.all().delete()
                User.objects.update(factor_skipped_at=None)
            half(browser, user)
            app, enrolment = begin(browser)

            code = authenticator.code(app.key, ahead)
            answer = browser.post(SET_UP_VERIFY, json={"enrolment": enrolment, "code": code})

            assert answer.status_code == status, ahead
