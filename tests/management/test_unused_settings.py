"""Settings that another setting overrides are accepted, and the operators' site names them."""

import html
import re
from typing import Any

import pytest

from interaction.connectors import services as connectors
from interaction.experience import services as experience
from oidc.applications import services as applications
from oidc.settings import services as oidc_settings

NO_FACTOR = "No second factor is switched on, so “{}” has no effect."
SOCIAL = {"create_users": True, "create_users_while_registration_is_closed": False}
ADAPTIVE = "Ask when a sign-in is unusual"
# The change of the sign-in experience, the tab that also warns, and the warning.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "an offer of no factor": (
        {"mfa": {"policy": "PromptOnlyAtSignIn"}},
        "factors",
        NO_FACTOR.format("Policy"),
    ),
    "no factor that is left to providers": (
        {"mfa": {"social": "skip"}},
        "factors",
        NO_FACTOR.format("Other providers"),
    ),
    "remembered browsers without a factor": (
        {"trusted_device_policy": {"enabled": True}},
        "factors",
        NO_FACTOR.format("Let users skip the second factor in their own browsers"),
    ),
    "unusual sign-ins without a factor": (
        {"adaptive_mfa": {"enabled": True}},
        "factors",
        NO_FACTOR.format(ADAPTIVE),
    ),
    "unusual sign-ins where all sign-ins ask": (
        {"mfa": {"factors": ["Totp"], "policy": "Mandatory"}, "adaptive_mfa": {"enabled": True}},
        "factors",
        f"Every sign-in asks for a second factor, so “{ADAPTIVE}” has no effect.",
    ),
    "new countries without the header": (
        {"mfa": {"factors": ["Totp"]}, "adaptive_mfa": {"enabled": True}},
        "factors",
        "Countries are unknown without the setting COUNTRY_HEADER",
    ),
    "verification of usernames": (
        {"sign_up": {"identifiers": ["username"], "verify": True}},
        "registration",
        "so nothing is verified with a code.",
    ),
    "a password that no method takes": (
        {"sign_in": {"methods": [{"identifier": "email", "password": False, "verification_code": True}]}},
        "registration",
        "Sign-up asks for a password, but users cannot sign in with a password.",
    ),
    "an exception to nothing": (
        {"social_sign_in": {"create_users": False, "create_users_while_registration_is_closed": True}},
        "accounts",
        "has no effect without “Create an account by signing in with another provider”.",
    ),
}


def page_of(operator, kind, row, operation=""):
    path = f"do/{operation}/" if operation else "change/"
    return html.unescape(operator.get(f"/admin/{kind}/{row.pk}/{path}").text)


def experience_page(operator, world, operation=""):
    with world.active():
        row = experience.current()
    return page_of(operator, "experience/signinexperience", row, operation)


class TestSignInExperience:
    def test_the_defaults_have_none(self, acme, operator):
        pages = [
            experience_page(operator, acme, name) for name in ("", "factors", "registration", "accounts")
        ]

        assert not [page for page in pages if re.search("no effect|so nothing|cannot sign in with", page)]

    @pytest.mark.parametrize("case", CASES)
    def test_each_is_accepted_and_named_on_its_page_and_on_the_overview(self, acme, admin, operator, case):
        change, tab, warning = CASES[case]

        assert admin.patch("/sign-in-experience", **change).status_code == 200

        assert warning in experience_page(operator, acme)
        assert warning in experience_page(operator, acme, tab)

    @pytest.mark.parametrize("has_provider", [True, False])
    def test_a_closed_registration_is_named_where_there_are_other_providers(
        self, acme, admin, operator, has_provider
    ):
        with acme.active():
            if has_provider:
                config = {"client_id": "x", "client_secret": "y"}
                google = connectors.create(
                    connector_id="google", type="Social", config=config, is_proven=True
                )
                connectors.change(google, {"enabled": True}, expected=None, is_proven=True)

        admin.patch("/sign-in-experience", sign_up={"identifiers": []}, social_sign_in=SOCIAL)

        shown = "Registration is closed, so “Create an account" in experience_page(operator, acme)
        assert shown is has_provider


class TestLifetimes:
    def test_an_idle_lifetime_that_is_longer_than_the_maximum_is_named(self, acme, operator):
        with acme.active():
            oidc_settings.change(
                {"session_idle_seconds": 600, "session_absolute_seconds": 300}, is_proven=True
            )
            row = oidc_settings.current()

        page = page_of(operator, "oidc_settings/oidcsettings", row)

        assert "“Idle lifetime of sessions” is longer than “Maximum lifetime of sessions”" in page
        assert "“Idle lifetime of refresh tokens” is longer" not in page

    def test_a_lifetime_of_an_application_that_is_longer_than_the_tenants_is_named(self, acme, operator):
        with acme.active():
            oidc_settings.change({"refresh_token_absolute_seconds": 300}, is_proven=True)
            row = acme.application().application
            applications.change(
                row,
                {"refresh_token_absolute_seconds": 600, "refresh_token_idle_seconds": 400},
                is_proven=True,
            )

        page = page_of(operator, "applications/application", row)

        assert "“Maximum lifetime of refresh tokens” is longer than the tenant's value" in page
        assert "“Idle lifetime of refresh tokens” is longer than “Maximum lifetime of refresh tokens”" in page
