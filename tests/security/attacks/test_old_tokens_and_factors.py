"""An old stolen token of an administrator, which weakens the second factors of a tenant (AP47)."""

from typing import Any

import pytest

from identity.factors.policy import Prompt
from interaction.experience import services as experience
from interaction.experience import weaker_factors
from tests.support import codes, management
from tests.support.factors import switch_on
from tests.support.management import result_of
from tests.support.old_tokens import is_refused


@pytest.fixture
def acme(acme):
    return codes.reachable(acme)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


FACTORS = ["Totp", "BackupCode"]
WEAKER: list[dict[str, Any]] = [
    {"factors": [], "policy": "NoPrompt", "organization_required_mfa_policy": "NoPrompt"},
    {"factors": ["Totp"]},
    {"factors": ["WebAuthn", "BackupCode"]},
    {"factors": [*FACTORS, "EmailVerificationCode"]},
    {"factors": [*FACTORS, "PhoneVerificationCode"]},
    {"policy": "NoPrompt"},
    {"policy": "PromptAtSignInAndSignUp"},
    {"organization_required_mfa_policy": "NoPrompt"},
    {"social": "skip"},
]
LESS_OFTEN: list[dict[str, Any]] = [
    {"trusted_device_policy": {"enabled": True}},
    {"trusted_device_policy": {"enabled": True, "duration_days": 1}},
    {"adaptive_mfa": {"enabled": False}},
    {"adaptive_mfa": {"new_browser": False}},
    {"adaptive_mfa": {"new_country": False}},
    {"adaptive_mfa": {"inactive_days": 31}},
    {"adaptive_mfa": {"recent_failures": 6}},
    {"forgot_password_requires_factor": False},
]
STRONGER: list[dict[str, Any]] = [
    {"mfa": {"factors": [*FACTORS, "WebAuthn"]}},
    {"mfa": {"policy": "PromptAtSignInAndSignUp"}},
    {"mfa": {"organization_required_mfa_policy": "Mandatory"}},
    {"mfa": {"social": "ask"}},
    {"adaptive_mfa": {"new_browser": True}},
    {"adaptive_mfa": {"inactive_days": 29}},
    {"adaptive_mfa": {"recent_failures": 4}},
    {"forgot_password_requires_factor": True},
]


class TestFactors:
    @pytest.fixture
    def strict(self, acme):
        rules = {"policy": "Mandatory", "organization_required_mfa_policy": "Mandatory"}
        switch_on(acme, *FACTORS, **rules)

        def read():
            with acme.active():
                return experience.current().mfa

        return read

    @pytest.mark.parametrize("change", WEAKER, ids=str)
    def test_attack_AP47_an_old_token_does_not_weaken_them(self, thief, strict, change):
        before = strict()

        assert is_refused(thief.patch("/sign-in-experience", mfa=change))
        assert strict() == before

    @pytest.mark.parametrize("change", LESS_OFTEN, ids=str)
    def test_attack_AP47_nor_does_it_let_them_be_skipped(self, admin, thief, recent, strict, change):
        result_of(admin.patch("/sign-in-experience", adaptive_mfa={"enabled": True}))
        before = result_of(admin.get("/sign-in-experience"))

        assert is_refused(thief.patch("/sign-in-experience", **change))
        assert result_of(admin.get("/sign-in-experience")) == before

        result_of(recent.patch("/sign-in-experience", **change))
        result_of(thief.patch("/sign-in-experience", **change))  # nothing is changed

    def test_attack_AP47_nor_does_it_remember_browsers_for_longer(self, admin, thief, strict):
        on = {"enabled": True, "duration_days": 7}
        result_of(admin.patch("/sign-in-experience", trusted_device_policy=on))

        assert is_refused(thief.patch("/sign-in-experience", trusted_device_policy={"duration_days": 8}))
        for less in ({"duration_days": 6}, {"enabled": False}, {"duration_days": 365}):
            result_of(thief.patch("/sign-in-experience", trusted_device_policy=less))

    def test_attack_AP47_a_recent_one_does_and_so_does_an_application(self, acme, strict, recent):
        for caller in (recent, management.machine(acme)):
            result_of(caller.patch("/sign-in-experience", mfa={"policy": "NoPrompt", "social": "skip"}))
            result_of(caller.patch("/sign-in-experience", mfa={"policy": "Mandatory", "social": "ask"}))

    def test_attack_AP47_other_changes_need_no_proof(self, thief, strict):
        before = strict()

        result_of(thief.patch("/sign-in-experience", mfa=before))
        result_of(thief.patch("/sign-in-experience", password_policy={"min_length": 12}))
        result_of(thief.patch("/sign-in-experience", adaptive_mfa={"new_browser": False}))  # it is off

    @pytest.mark.parametrize("change", STRONGER, ids=str)
    def test_attack_AP47_nor_do_stronger_ones(self, acme, admin, thief, change):
        prompts = {"policy": "NoPrompt", "organization_required_mfa_policy": "NoPrompt", "social": "skip"}
        risks = {"enabled": True, "new_browser": False, "inactive_days": 30, "recent_failures": 5}
        weak = {"adaptive_mfa": risks, "forgot_password_requires_factor": False}
        switch_on(acme, *FACTORS)
        result_of(admin.patch("/sign-in-experience", mfa={"factors": FACTORS, **prompts}, **weak))

        changed = result_of(thief.patch("/sign-in-experience", **change))

        [(name, value)] = change.items()
        assert changed[name] == (changed[name] | value if isinstance(value, dict) else value)

    def test_attack_AP47_nor_do_the_first_factors_of_a_tenant(self, thief):
        first = {"factors": ["Totp", "EmailVerificationCode"]}

        result_of(thief.patch("/sign-in-experience", mfa=first, trusted_device_policy={"enabled": True}))

    @pytest.mark.parametrize(
        "change",
        [
            {"mfa": {"factors": ["Totp"]}},
            {"mfa": {"factors": ["Totp"]}, "passkey_sign_in": {"enabled": False}},
            {"passkey_sign_in": {"enabled": False}},
        ],
        ids=str,
    )
    def test_attack_AP47_passkeys_are_not_replaced_by_a_password_and_a_first_factor(
        self, admin, thief, recent, change
    ):
        """In a tenant with passkeys alone, users would set a first factor up with only a password."""
        passkeys = {"mfa": {"factors": []}, "passkey_sign_in": {"enabled": True}}
        result_of(admin.patch("/sign-in-experience", **passkeys))
        before = result_of(admin.get("/sign-in-experience"))

        assert is_refused(thief.patch("/sign-in-experience", **change))
        assert result_of(admin.get("/sign-in-experience")) == before

        result_of(thief.patch("/sign-in-experience", **passkeys))  # nothing is changed
        result_of(recent.patch("/sign-in-experience", **change))

    def test_attack_AP47_switching_passkeys_on_needs_no_proof(self, thief):
        result_of(thief.patch("/sign-in-experience", passkey_sign_in={"enabled": True}))

    def test_the_policies_are_ordered(self):
        assert weaker_factors._ORDER == (
            Prompt.NO_PROMPT,
            Prompt.AT_SIGN_IN,
            Prompt.AT_SIGN_IN_AND_SIGN_UP,
            Prompt.MANDATORY,
        )
