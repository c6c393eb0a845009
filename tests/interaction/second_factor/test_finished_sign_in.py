"""The session after the second factor, and the sign-in of users who need none."""

import pytest

from identity.factors import metrics
from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys.second_factor import circumstances
from tests.support import audit_log, codes, factors
from tests.support.cast import PASSWORD, query_of
from tests.support.factors import (
    TOTP,
    enrol,
    half,
    has_session,
    is_signed_in,
    switch_on,
)
from tests.support.statement_costs import Inside


class TestTheSession:
    @pytest.fixture
    def entries_at_the_end(self, acme, monkeypatch):
        """The keys of the audit entries of sign-ins, right after each is stored."""
        found: list[list[str]] = []

        def look(*_):
            keys = [entry.key for entry in audit_log.entries(acme)]
            found.append([key for key in keys if key.startswith(("SignIn.", "Register."))])

        monkeypatch.setattr(metrics, "count_sign_in", look)
        monkeypatch.setattr(circumstances, "may_remember", look)
        return found

    def test_decision_M5_password_and_authenticator_are_two_factors(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)

        answer = browser.post(TOTP, json={"code": app.code()})

        assert answer.json()["result"].keys() == {"redirect_to"}
        assert is_signed_in(browser)
        with acme.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (2, ["pwd", "otp", "mfa"])
        assert session.second_factor_at is not None

    def test_it_continues_the_request_of_the_application(self, acme, user, app):
        client, browser = acme.application(), acme.browser()
        interaction = browser.authorize(client).headers["Location"].partition("interaction=")[2]

        result = half(browser, user, interaction=interaction)
        answer = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert result["redirect_to"].endswith(f"/sign-in/second-factor?interaction={interaction}")
        assert answer.json()["result"]["redirect_to"].endswith(f"/oidc/authorize/{interaction}")
        sent = browser.get(answer.json()["result"]["redirect_to"])
        assert "code=" in sent.headers["Location"]

    def test_decision_M53_the_log_tells_both_halves(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        browser.post(TOTP, json={"code": "000000"})
        browser.post(TOTP, json={"code": app.code()})

        first = audit_log.last(acme, "SignIn.FirstFactor")
        wrong = audit_log.last(acme, "Mfa.Verify")
        last = audit_log.last(acme, "SignIn.Password")

        assert first.payload["way"] == "password"
        assert (first.payload["needed"], first.payload["result"]) == (["person"], "success")
        assert first.user_id == str(user.pk)
        assert (wrong.payload["type"], wrong.payload["error"]) == ("Totp", "second_factor_wrong")
        assert last.payload["factors"] == ["Totp"]
        assert (last.payload["acr"], last.payload["remembered"]) == ("urn:service:acr:2fa", False)
        assert last.payload["session_id"]
        assert len(audit_log.entries(acme, "SignIn.Password")) == 1

    def test_decision_M14_a_session_stays_until_another_one_starts(self, acme, app, user):
        someone = acme.user()
        browser = acme.browser()
        browser.sign_in(someone)

        half(browser, user)

        assert is_signed_in(browser)
        with acme.active():
            assert Session.objects.live().get().user_id == someone.pk

    def test_decision_M14_a_later_sign_in_with_one_factor_does_not_lower_it(self, acme, user, app):
        browser = factors.signed_in(acme, user, app)
        with acme.active():
            before = Session.objects.get()
            User.objects.filter(pk=user.pk).update(two_step=False)

        assert has_session(browser.sign_in(user))

        with acme.active():
            after = Session.objects.get()
        assert (after.pk, after.level) == (before.pk, 2)
        assert "mfa" in after.amr

    def test_decision_M14_nor_does_one_for_a_request_that_demands_no_new_sign_in(self, acme, user, app):
        browser = acme.browser()
        place = browser.authorize(acme.application()).headers["Location"]
        half(browser, user)
        assert has_session(browser.post(TOTP, json={"code": app.code()}))
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=False)

        assert has_session(browser.sign_in(user, interaction=query_of(place)["interaction"]))

        with acme.active():
            assert Session.objects.get().level == 2

    @pytest.mark.parametrize("is_two_step", [True, False])
    def test_decision_A1_the_entry_is_stored_with_the_sign_in(
        self, acme, user, app, entries_at_the_end, is_two_step
    ):
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=is_two_step)
        sent = {"identifier": user.username, "password": PASSWORD}

        assert Inside(acme).send("/api/interaction/sign-in", sent).status_code == 200

        assert entries_at_the_end == [["SignIn.FirstFactor" if is_two_step else "SignIn.Password"]]

    def test_decision_A1_the_entry_of_a_registration_is_stored_with_its_first_factor(
        self, acme, entries_at_the_end
    ):
        switch_on(acme, "Totp", policy="Mandatory")
        sent = {"username": "new-here", "password": PASSWORD}

        assert Inside(acme).send(codes.REGISTER, sent).status_code == 200

        assert entries_at_the_end == [["Register.Username", "SignIn.FirstFactor"]]


class TestWithoutFactors:
    def test_a_tenant_that_has_none_asks_nobody(self, acme, user):
        enrol(acme, user)

        answer = acme.browser().sign_in(user)

        assert has_session(answer)
        assert answer.json()["result"].keys() == {"redirect_to"}
        assert "acr" not in audit_log.last(acme, "SignIn.Password").payload

    def test_a_factor_that_the_tenant_switched_off_is_not_asked_for(self, acme, user, app):
        switch_on(acme, "EmailVerificationCode")

        assert has_session(acme.browser().sign_in(user))

    def test_decision_M8_somebody_who_switched_it_off_is_not_asked(self, acme):
        switch_on(acme)
        user = acme.user()
        enrol(acme, user, two_step=False)

        assert has_session(acme.browser().sign_in(user))
