"""Second factors on the operators' site: those of a user, and the policy of the tenant."""

import re

import pytest

from identity.factors.models import Authenticator, RecoveryGrant
from identity.users.models import User
from interaction.experience.models import SignInExperience
from tests.support import codes, factors, management, operators
from tests.support.admin_pages import operate
from tests.support.factors import enrol, give_backup_codes, half, has_session, is_signed_in, switch_on
from tests.support.management import result_of
from tests.support.operators import administrator, text_of


def experience_of(world):
    with world.active():
        return SignInExperience.objects.get()


def page_of(operator, user):
    return text_of(operator.get(f"/admin/users/user/{user.pk}/change/"))


class TestUsers:
    @pytest.fixture
    def user(self, acme):
        switch_on(acme)
        return acme.user()

    def test_decision_M52_the_page_shows_the_factors(self, acme, operator, user):
        before = page_of(operator, user)
        enrol(acme, user)
        give_backup_codes(acme, user)

        after = page_of(operator, user)

        assert "The user has set up none." in before
        assert "Authenticator app" in after
        assert "Backup codes, 10 left" in after

    def test_decision_M47_a_reset_ends_everything(self, acme, operator, user):
        browser = factors.signed_in(acme, user, enrol(acme, user))

        answer = operate(operator, "users/user", user, "reset-factors")

        assert answer.status_code == 303
        assert not is_signed_in(browser)
        assert has_session(acme.browser().sign_in(user))

    def test_one_factor_is_removed(self, acme, operator, user):
        enrol(acme, user)
        enrol(acme, user)
        with acme.active():
            first = Authenticator.objects.values_list("pk", flat=True)[0]

        answer = operate(operator, "users/user", user, "remove-factor", factor=str(first))

        assert answer.status_code == 303
        with acme.active():
            assert Authenticator.objects.exclude(pk=first).count() == 1
            assert not Authenticator.objects.filter(pk=first).exists()

    def test_that_of_another_user_is_no_choice(self, acme, operator, user):
        other = acme.user()
        enrol(acme, user)
        enrol(acme, other)
        with acme.active():
            theirs = Authenticator.objects.get(user=other)

        answer = operate(operator, "users/user", user, "remove-factor", factor=str(theirs.pk))

        assert answer.status_code == 400
        with acme.active():
            assert Authenticator.objects.count() == 2

    def test_two_step_is_switched(self, acme, operator, user):
        enrol(acme, user)

        off = operate(operator, "users/user", user, "two-step")
        assert has_session(acme.browser().sign_in(user))
        on = operate(operator, "users/user", user, "two-step", two_step="on")

        assert (off.status_code, on.status_code) == (303, 303)
        assert half(acme.browser(), user)["next"]["step"] == "second_factor"

    def test_decision_M46_a_recovery_code_is_shown_once(self, acme, operator, user):
        enrol(acme, user)

        answer = operate(operator, "users/user", user, "recovery-code")
        shown = text_of(operator.get(answer.headers["Location"]))

        assert answer.status_code == 303
        assert "Recovery code" in shown
        with acme.active():
            assert RecoveryGrant.objects.get().made_by == str(operator.who.pk)

    def test_support_sees_them_and_changes_nothing(self, acme, user):
        enrol(acme, user)
        support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))

        assert "Authenticator app" in page_of(support, user)
        for name in ("reset-factors", "remove-factor", "two-step", "recovery-code"):
            assert support.get(f"/admin/users/user/{user.pk}/do/{name}/").status_code == 403


class TestThePolicy:
    def save(self, operator, world, **typed):
        row = experience_of(world)
        fields = {"organization_required_mfa_policy": "NoPrompt", "duration_days": 30} | typed
        fields |= {"inactive_days": 30, "recent_failures": 5}
        return operate(operator, "experience/signinexperience", row, "factors", **fields)

    def form(self, operator, world):
        row = experience_of(world)
        return text_of(operator.get(f"/admin/experience/signinexperience/{row.pk}/do/factors/"))

    def test_decision_M52_it_is_saved_and_its_effect_is_said(self, acme, operator):
        user, _ = acme.user(), acme.user()
        enrol(acme, user)
        before = self.form(operator, acme)

        answer = self.save(operator, acme, factors=["Totp", "BackupCode"], policy="Mandatory", social="ask")

        assert answer.status_code == 303
        assert "Users with a second factor: 1 of 2." in before
        assert "Nobody is asked for one" in before
        assert "1 other user has to set one up at the next sign-in." in self.form(operator, acme)
        assert experience_of(acme).mfa["policy"] == "Mandatory"
        with acme.active():
            assert User.objects.values_list("tenant__highest_level", flat=True)[0] == 2

    def test_the_effect_of_the_other_policies(self, acme, operator):
        user, _ = acme.user(), acme.user()
        enrol(acme, user)

        for policy, said in (
            ("NoPrompt", "1 user is asked for it at each sign-in."),
            ("PromptOnlyAtSignIn", "1 other user gets an offer to set one up at the next sign-in."),
        ):
            self.save(operator, acme, factors=["Totp"], policy=policy, social="ask")
            assert said in self.form(operator, acme)

    def test_decision_M15_members_of_strict_organizations_are_counted(self, acme, operator):
        factors.switch_on(acme, "Totp")
        member, other = acme.user(), acme.user()
        admin = management.superuser(acme)
        for name, strict, user in (("Clinic", True, member), ("Bank", True, member), ("Club", False, other)):
            made = admin.created("/organizations", name=name, is_mfa_required=strict)
            result_of(admin.post(f"/organizations/{made['id']}/users", user_ids=[str(user.pk)]))

        self.save(
            operator, acme, factors=["Totp"], policy="NoPrompt", social="ask",
            organization_required_mfa_policy="Mandatory",
        )  # fmt: skip

        said = "1 member of organizations that require two factors has to prove or set up one"
        assert said in self.form(operator, acme)
        row = experience_of(acme)
        page = text_of(operator.get(f"/admin/experience/signinexperience/{row.pk}/change/"))
        assert "Ask their members at every sign-in" in page

    def test_decision_M16_a_policy_that_shuts_people_out_is_refused(self, acme, operator):
        answer = self.save(
            operator, acme, factors=["EmailVerificationCode"], policy="Mandatory", social="ask"
        )

        assert answer.status_code == 400
        page = text_of(answer)
        assert "“Require it of everybody” needs one of these: Passkey or security key, Authenticator" in page
        assert "Mandatory only" not in page
        assert experience_of(acme).mfa["factors"] == []

    def test_decision_M16_a_code_that_is_the_first_step_is_refused_in_the_words_of_the_form(
        self, acme, operator
    ):
        methods = [{"identifier": "email", "password": False, "verification_code": True}]
        codes.reachable(acme)
        result_of(management.superuser(acme).patch("/sign-in-experience", sign_in={"methods": methods}))

        answer = self.save(operator, acme, factors=["EmailVerificationCode"], policy="NoPrompt", social="ask")

        assert answer.status_code == 400
        assert "“Code by email” cannot be the second step" in text_of(answer)

    def test_fields_that_need_a_switch_are_indented_below_it(self, acme, operator):
        form = operator.get(f"/admin/experience/signinexperience/{experience_of(acme).pk}/do/factors/").text

        indented = re.findall(r'<div class="form-row dependent">.*?name="(\w+)"', form, re.DOTALL)

        assert indented == ["duration_days", "new_browser", "new_country", "inactive_days", "recent_failures"]

    def test_passkeys_are_switched_on_and_off(self, acme, operator):
        with_them = {"factors": ["WebAuthn"], "policy": "NoPrompt", "social": "ask"}

        self.save(operator, acme, **with_them, passkeys="on")
        switched_on = experience_of(acme)
        self.save(operator, acme, **with_them)

        assert switched_on.has_passkey_sign_in
        assert switched_on.mfa["factors"] == ["WebAuthn"]
        assert not experience_of(acme).has_passkey_sign_in

    def test_the_overview_names_them(self, acme, operator):
        self.save(operator, acme, factors=["Totp"], policy="NoPrompt", social="ask")
        row = experience_of(acme)

        page = text_of(operator.get(f"/admin/experience/signinexperience/{row.pk}/change/"))

        assert "Authenticator app" in page
        assert "Only users who have switched on two-step sign-in" in page

    def test_it_speaks_of_users_as_the_other_pages_do(self, acme, operator):
        url = f"/admin/experience/signinexperience/{experience_of(acme).pk}/do/factors/"

        page = text_of(operator.get(url))

        assert "The browser is new to the user" in page
        assert not re.search(r"\b(people|person)\b", page, re.IGNORECASE)
