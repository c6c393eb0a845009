"""/sign-in-experience of the management API: what a tenant's pages show and allow."""

import pytest

from tests.support import management
from tests.support.management import refusal_of, result_of

SOCIAL = {
    "automatic_account_linking": False,
    "create_users": True,
    "create_users_while_registration_is_closed": False,
}


class TestSignInExperience:
    def test_decision_X2_starts_with_the_defaults(self, admin):
        shown = result_of(admin.get("/sign-in-experience"))

        assert set(shown) == {
            *("id", "branding", "sign_in", "sign_up", "password_policy"),
            *(
                "social_sign_in",
                "account",
                "message_templates",
                "page_texts",
                "terms_of_use_url",
                "privacy_policy_url",
                "updated_at",
            ),
            *("mfa", "passkey_sign_in", "trusted_device_policy", "adaptive_mfa", "attestation"),
            "forgot_password_requires_factor",
        }
        assert shown["sign_up"] == {
            "identifiers": ["username"],
            "password": True,
            "verify": False,
            "agree_to_terms": "automatic",
        }
        assert shown["password_policy"]["min_length"] == 8
        assert shown["social_sign_in"] == SOCIAL

    def test_says_what_becomes_of_who_comes_from_another_provider(self, acme, rival, admin):
        result_of(admin.patch("/sign-in-experience", social_sign_in={"automatic_account_linking": True}))
        shown = result_of(admin.patch("/sign-in-experience", social_sign_in={"create_users": False}))

        assert shown["social_sign_in"] == SOCIAL | {"automatic_account_linking": True, "create_users": False}
        refusal_of(admin.patch("/sign-in-experience", social_sign_in={"create_users": "no"}), 400)
        refusal_of(admin.patch("/sign-in-experience", social_sign_in=None), 400)
        theirs = result_of(management.superuser(rival).get("/sign-in-experience"))
        assert theirs["social_sign_in"] == SOCIAL

    def test_decision_H9_merges_objects_one_level(self, acme, admin):
        result_of(admin.patch("/sign-in-experience", branding={"primary_color": "#0a84ff"}))
        shown = result_of(admin.patch("/sign-in-experience", branding={"logo_url": "https://x.org/l.png"}))

        assert shown["branding"]["primary_color"] == "#0a84ff"
        assert shown["branding"]["logo_url"] == "https://x.org/l.png"
        assert "#0a84ff" in acme.get("/brand.css").text

    def test_has_three_layouts_of_the_pages(self, acme, admin):
        assert result_of(admin.get("/sign-in-experience"))["branding"]["layout"] == ""
        assert "<body>" in acme.get("/sign-in").text

        for layout in ("split", "plain"):
            result_of(admin.patch("/sign-in-experience", branding={"layout": layout}))
            for page in ("/sign-in", "/register", "/oidc/authorize"):
                assert f'<body class="{layout}">' in acme.get(page).text
            has_half = '<div class="half" aria-hidden="true">' in acme.get("/sign-in").text
            assert has_half == (layout == "split")
        result_of(admin.patch("/sign-in-experience", branding={"layout": "card"}))
        assert "<body>" in acme.get("/sign-in").text
        for wrong in ("x", 'split" onload="x', 1, ["split"]):
            refusal_of(admin.patch("/sign-in-experience", branding={"layout": wrong}), 400)

    def test_decision_X11_says_what_people_may_do_on_their_account_page(self, admin):
        default = result_of(admin.get("/sign-in-experience"))["account"]
        changed = result_of(admin.patch("/sign-in-experience", account={"deletion": True}))["account"]

        unset = {"non_ascii_email_names": False, "sms_countries": [], "profile_fields": []}
        unset |= {"sign_in_notice": False}
        assert default == {"username_change": False, "deletion": False} | unset
        assert changed == {"username_change": False, "deletion": True} | unset
        for wrong in ({"deletion": "yes"}, {"username_change": None}, "x"):
            refusal_of(admin.patch("/sign-in-experience", account=wrong), 400)

    def test_decision_X4_the_strength_meter_is_off_until_somebody_wants_it(self, acme, admin):
        before = acme.get("/register").text
        default = result_of(admin.get("/sign-in-experience"))["password_policy"]
        changed = result_of(admin.patch("/sign-in-experience", password_policy={"strength_meter": True}))

        assert default["strength_meter"] is False
        assert changed["password_policy"] == default | {"strength_meter": True}
        assert "strength" not in before
        assert "data-strength=" in acme.get("/register").text
        assert "strength" not in acme.get("/sign-in").text
        refusal_of(admin.patch("/sign-in-experience", password_policy={"strength_meter": "yes"}), 400)

    def test_replaces_lists(self, admin):
        methods = [{"identifier": "email", "password": True, "verification_code": False}]

        shown = result_of(admin.patch("/sign-in-experience", sign_in={"methods": methods}))

        assert shown["sign_in"] == {"methods": methods, "ways": ["password", "verification_code"]}

    @pytest.mark.parametrize(
        "change",
        [
            {"branding": {"primary_color": "red"}},
            {"branding": {"primary_color": "#12345"}},
            {"branding": {"primary_color": "#fff;}body{"}},
            {"branding": {"logo_url": "javascript:alert(1)"}},
            {"branding": {"favicon": "data:text/html,x"}},
            {"branding": {"logo_url": "//evil.example/x"}},
            {"branding": "x"},
            {"password_policy": {"min_length": 5}},
            {"password_policy": {"min_length": 33}},
            {"sign_up": {"identifiers": ["passport"]}},
            {"sign_in": {"methods": [{"identifier": "email"}]}},
            {
                "sign_in": {
                    "methods": [{"identifier": "username", "password": True, "verification_code": True}]
                }
            },
            {"terms_of_use_url": "javascript:alert(1)"},
        ],
    )
    def test_case_J08_J09_J11_refuses_what_would_harm_a_page(self, admin, change):
        before = result_of(admin.get("/sign-in-experience"))

        refusal_of(admin.patch("/sign-in-experience", **change), 400)

        assert result_of(admin.get("/sign-in-experience")) == before

    def test_decision_X3_a_method_that_is_off_is_off_at_once(self, acme, admin):
        user = acme.user()
        methods = [{"identifier": "email", "password": True, "verification_code": False}]

        result_of(admin.patch("/sign-in-experience", sign_in={"methods": methods}))

        assert acme.browser().sign_in(user).status_code == 400
