"""The policy of second factors in the management API."""

import pytest

from identity.tenants.models import Tenant
from tests.support import management
from tests.support.factors import ALL
from tests.support.management import refusal_of, result_of

PATH = "/sign-in-experience"
EXPERIENCE = "/api/interaction/sign-in-experience"
OFF = {
    "factors": [],
    "policy": "NoPrompt",
    "organization_required_mfa_policy": "NoPrompt",
    "social": "ask",
}


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


class TestReading:
    def test_decision_M15_it_is_off_at_first(self, admin):
        shown = result_of(admin.get(PATH))

        assert shown["mfa"] == OFF
        assert shown["passkey_sign_in"]["enabled"] is False
        assert shown["trusted_device_policy"] == {"enabled": False, "duration_days": 30}
        assert shown["adaptive_mfa"]["recent_failures"] == 5
        assert shown["attestation"] == {"require": False, "allowed_aaguids": [], "allow_synced": True}

    def test_decision_M17_front_ends_see_it_only_while_it_is_on(self, acme, admin):
        before = acme.get(EXPERIENCE).json()["result"]
        admin.patch(PATH, mfa={"factors": ["Totp"]})

        after = acme.get(EXPERIENCE).json()["result"]

        new = {"mfa", "passkey_sign_in", "trusted_device_policy"}
        assert not new & before.keys()
        assert after.keys() - before.keys() == new
        assert after["mfa"]["factors"] == ["Totp"]


class TestChanging:
    def test_decision_H9_members_are_merged(self, acme, admin):
        admin.patch(PATH, mfa={"factors": ["Totp", "BackupCode", "Totp"]})
        shown = result_of(admin.patch(PATH, mfa={"policy": "Mandatory"}))

        assert shown["mfa"] == OFF | {"factors": ["Totp", "BackupCode"], "policy": "Mandatory"}
        assert Tenant.objects.get(pk=acme.tenant.pk).highest_level == 2
        admin.patch(PATH, mfa={"factors": [], "policy": "NoPrompt"})
        assert Tenant.objects.get(pk=acme.tenant.pk).highest_level == 1

    def test_decision_M4_passkeys_reach_the_level_of_what_resists_phishing(self, acme, admin):
        result_of(admin.patch(PATH, mfa={"factors": ["Totp", "WebAuthn"]}))

        assert Tenant.objects.get(pk=acme.tenant.pk).highest_level == 3

    @pytest.mark.parametrize(
        ("mfa", "said"),
        [
            ({"factors": ["EmailVerificationCode"], "policy": "Mandatory"}, "can be Mandatory only with"),
            ({"policy": "Mandatory"}, "can be Mandatory only with"),
            ({"organization_required_mfa_policy": "Mandatory"}, "can be Mandatory only with"),
            ({"factors": ["BackupCode"]}, "backup codes need another factor"),
            ({"factors": ["Pigeon"]}, "mfa.factors"),
            ({"policy": "Sometimes"}, "mfa.policy"),
            ({"social": "trust_amr"}, "trust_amr cannot be used in this version"),
            ({"organization_required_mfa_policy": "PromptOnlyAtSignIn"}, "mfa.organization"),
            ("Mandatory", "mfa"),
        ],
    )
    def test_decision_M16_what_shuts_people_out_or_cannot_be_is_refused(self, acme, admin, mfa, said):
        assert said in refusal_of(admin.patch(PATH, mfa=mfa), 400)
        assert result_of(admin.get(PATH))["mfa"] == OFF

    def test_decision_M16_a_code_is_no_factor_while_it_is_the_only_way_in(self, admin):
        only = [{"identifier": "email", "password": False, "verification_code": True}]

        refused = admin.patch(PATH, sign_in={"methods": only}, mfa={"factors": ["EmailVerificationCode"]})
        assert "are the only way in" in refusal_of(refused, 400)
        result_of(admin.patch(PATH, mfa={"factors": list(ALL)}))
        assert "are the only way in" in refusal_of(admin.patch(PATH, sign_in={"methods": only}), 400)
        by_phone = [*only, {"identifier": "phone", "password": False, "verification_code": True}]
        result_of(admin.patch(PATH, sign_in={"methods": by_phone}))

    @pytest.mark.parametrize(
        "fields",
        [
            {"attestation": {"require": True}},
        ],
    )
    def test_decision_M17_M30_what_does_not_work_yet_cannot_be_switched_on(self, admin, fields):
        assert "cannot be switched on in this version" in refusal_of(admin.patch(PATH, **fields), 400)

    def test_their_other_members_are_stored(self, admin):
        shown = result_of(admin.patch(PATH, trusted_device_policy={"duration_days": 14}))

        assert shown["trusted_device_policy"] == {"enabled": False, "duration_days": 14}

    def test_another_tenant_is_left_alone(self, acme, rival, admin):
        admin.patch(PATH, mfa={"factors": ["Totp"]})

        assert result_of(management.superuser(rival).get(PATH))["mfa"] == OFF
