"""The account page of second factors: to rename and remove one, and to switch the second step on and off."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator, BackupCode
from identity.sessions.models import Session
from tests.support import audit_log, codes, factors, management
from tests.support.cast import PASSWORD
from tests.support.factors import enrol, give_backup_codes, has_session, is_signed_in, switch_on
from tests.support.management import result_of
from tests.support.security_pages import ADD, SECURITY, let_proofs_age, open_and_send, send_form


class TestRenaming:
    def test_decision_M50_a_factor_gets_another_name(self, acme, user, browser):
        enrol(acme, user)
        give = form_of_rename(acme, browser)

        done = send_form(browser, SECURITY, give, name="Old phone")

        assert done.headers["Location"].endswith("/account/security?done=renamed")
        page = browser.get(SECURITY).text
        assert "Old phone" in page
        assert audit_log.last(acme, "Mfa.Rename").payload["type"] == "Totp"

    def test_a_name_without_sense_is_said_at_the_field(self, acme, user, browser):
        enrol(acme, user)
        give = form_of_rename(acme, browser)

        answer = send_form(browser, SECURITY, give, name="a\x07b")

        assert answer.status_code == 400
        assert "control characters" in answer.text

    def test_that_of_another_user_is_unknown(self, acme, user, browser):
        other = acme.user()
        enrol(acme, other)
        with acme.active():
            theirs = Authenticator.objects.get().pk

        assert browser.get(f"{SECURITY}?rename={theirs}").status_code == 404
        enrol(acme, user)
        give = form_of_rename(acme, browser, user)
        assert send_form(browser, SECURITY, give, rename=str(theirs), name="Mine").status_code == 404
        with acme.active():
            assert Authenticator.objects.get(pk=theirs).name == ""


def form_of_rename(acme, browser, user=None):
    """Prove the factor of a user and open the form for its name."""
    with acme.active():
        now = timezone.now()
        Session.objects.update(level=2, second_factor_at=now, auth_time=now)
        rows = Authenticator.objects.filter(user=user) if user else Authenticator.objects.all()
        pk = rows.get().pk
    return browser.get(f"{SECURITY}?rename={pk}")


class TestRemoving:
    @pytest.fixture
    def app(self, acme, user):
        switch_on(acme, "Totp", "BackupCode")
        return enrol(acme, user)

    @pytest.fixture
    def inside(self, acme, user, app):
        return factors.signed_in(acme, user, app)

    def remove(self, acme, browser, **typed):
        with acme.active():
            pk = Authenticator.objects.values_list("pk", flat=True).first()
        return open_and_send(browser, SECURITY, remove=str(pk), **typed)

    def test_decision_M44_it_signs_out_other_browsers_and_backup_codes_go(self, acme, user, inside, app):
        give_backup_codes(acme, user)
        other = factors.signed_in(acme, user, app)
        added = audit_log.last(acme, "Mfa.Create").payload

        answer = self.remove(acme, inside)

        assert answer.status_code == 303
        assert is_signed_in(inside)
        assert not is_signed_in(other)
        with acme.active():
            assert not Authenticator.objects.exists()
            assert not BackupCode.objects.exists()
        assert has_session(acme.browser().sign_in(user))
        removed = audit_log.last(acme, "Mfa.Delete").payload
        assert removed == {"id": added["id"], "type": "Totp", "name": added["name"]}

    def test_decision_M43_it_needs_a_fresh_proof(self, acme, inside):
        let_proofs_age(acme)

        answer = self.remove(acme, inside, password=PASSWORD)

        assert answer.headers["Location"].endswith("/confirm?back=account-security")
        with acme.active():
            assert Authenticator.objects.exists()

    def test_decision_M43_and_the_password(self, acme, inside):
        let_proofs_age(acme, factor=timedelta(0))

        assert self.remove(acme, inside, password="wrong").status_code == 401
        assert self.remove(acme, inside, password=PASSWORD).status_code == 303

    def join(self, acme, user):
        """Make a user a member of an organization that requires two factors. Return its path in the API."""
        admin = management.superuser(acme)
        made = admin.created("/organizations", name="Clinic", is_mfa_required=True)
        path = f"/organizations/{made['id']}"
        result_of(admin.post(f"{path}/users", user_ids=[str(user.pk)]))
        return admin, path

    def test_decision_M45_the_last_one_stays_where_a_policy_demands_one(self, acme, inside):
        switch_on(acme, "Totp", "BackupCode", policy="Mandatory")

        answer = self.remove(acme, inside)

        assert answer.status_code == 403
        assert "You need a second step to sign in here" in answer.text
        with acme.active():
            assert Authenticator.objects.exists()
        assert audit_log.entries(acme, "Mfa.Delete") == []

    def test_decision_M45_the_last_one_of_a_member_stays_where_organizations_demand_one(
        self, acme, user, inside
    ):
        switch_on(acme, "Totp", organization_required_mfa_policy="Mandatory")
        admin, path = self.join(acme, user)

        answers = [self.remove(acme, inside), open_and_send(inside, SECURITY, two_step="off")]

        assert [answer.status_code for answer in answers] == [403, 403]
        assert "Switch off" not in inside.get(SECURITY).text
        result_of(admin.delete(f"{path}/users/{user.pk}"))
        assert self.remove(acme, inside).status_code == 303

    def test_decision_M45_that_of_a_member_goes_where_organizations_ask_for_their_tokens_only(
        self, acme, user, inside
    ):
        self.join(acme, user)

        assert self.remove(acme, inside).status_code == 303

    def test_that_of_somebody_else_is_unknown(self, acme, rival, inside):
        other, stranger = acme.user(), rival.user()
        enrol(acme, other)
        switch_on(rival, "Totp")
        enrol(rival, stranger)
        with acme.active():
            ids = [Authenticator.objects.get(user=other).pk]
        with rival.active():
            ids.append(Authenticator.objects.get().pk)

        for pk in [*ids, "x"]:
            assert open_and_send(inside, SECURITY, remove=str(pk)).status_code == 404


class TestSwitching:
    def test_decision_M8_it_can_be_switched_off_and_on(self, acme, user):
        switch_on(acme, "Totp")
        browser = factors.signed_in(acme, user, enrol(acme, user))

        off = open_and_send(browser, SECURITY, two_step="off")
        assert has_session(acme.browser().sign_in(user))
        on = open_and_send(browser, SECURITY, two_step="on")

        assert (off.status_code, on.status_code) == (303, 303)
        assert not has_session(acme.browser().sign_in(user))
        assert audit_log.last(acme, "Mfa.SettingsUpdate").payload["two_step"] is True

    def test_decision_M8_but_not_off_where_a_policy_demands_it(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = factors.signed_in(acme, user, enrol(acme, user))

        answer = open_and_send(browser, SECURITY, two_step="off")

        assert answer.status_code == 403
        assert "Switch off" not in browser.get(SECURITY).text

    def test_decision_M16_a_verified_email_can_be_the_factor(self, acme):
        switch_on(acme, "EmailVerificationCode")
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        browser = acme.browser()
        browser.sign_in(user)

        answer = open_and_send(browser, SECURITY, two_step="on")

        assert answer.status_code == 303
        following = acme.browser().sign_in(user).json()["result"]["next"]
        assert [method["type"] for method in following["methods"]] == ["EmailVerificationCode"]

    def test_a_tenant_without_factors_has_no_page(self, acme, user):
        browser = acme.browser()
        browser.sign_in(user)

        assert browser.get(SECURITY).headers["Location"].endswith("/account")
        assert SECURITY not in browser.get("/account").text
        assert browser.get(ADD).status_code == 403
