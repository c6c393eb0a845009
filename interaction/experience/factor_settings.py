"""The settings of second factors and passkeys, as a part of the sign-in experience."""

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers

from identity.core.errors import Invalid
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.policy import AVAILABLE, ENROLABLE, Prompt, SocialRule, default_mfa
from identity.rest.choices import Choice
from identity.rest.fields import Flag, WholeNumber

# The defaults of the objects. Rows of earlier releases have none of the members.
DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "mfa": default_mfa(),
    "passkey_sign_in": {
        "enabled": False,
        "show_passkey_button": True,
        "allow_autofill": True,
        "prompt": True,
    },
    "trusted_device_policy": {"enabled": False, "duration_days": 30},
    "adaptive_mfa": {
        "enabled": False,
        "new_browser": True,
        "new_country": True,
        "inactive_days": 30,
        "recent_failures": 5,
    },
    "attestation": {"require": False, "allowed_aaguids": [], "allow_synced": True},
}


class BadPolicy(Invalid):
    """A policy with which users could not sign in."""

    reason = "bad_factor_policy"


def check(values: Mapping[str, Any]) -> None:
    """Check the policy of an experience with these values.

    Raises:
        BadPolicy: users could be left without a way to sign in.

    """
    mfa = DEFAULTS["mfa"] | values["mfa"]
    factors = set(map(FactorType, mfa["factors"]))
    for member in find_unfit_policies(mfa):
        raise BadPolicy(
            f"mfa.{member}", "can be Mandatory only with Totp or WebAuthn, which work without email and phone"
        )
    if factors == {FactorType.BACKUP_CODE}:
        raise BadPolicy("mfa.factors", "backup codes need another factor")
    for factor in factors & set(ADDRESS_OF_FACTOR):
        if get_only_channel(values["sign_in"]) == ADDRESS_OF_FACTOR[factor]:
            raise BadPolicy(
                "mfa.factors",
                f"{factor} cannot be used while codes by {ADDRESS_OF_FACTOR[factor]} are the only way in",
            )


def find_unfit_policies(mfa: Mapping[str, Any]) -> list[str]:
    """Return the policies that require a second factor, if users can set none up during a sign-in."""
    if set(map(FactorType, mfa["factors"])) & set(ENROLABLE):
        return []
    return [name for name in ("policy", "organization_required_mfa_policy") if mfa[name] == Prompt.MANDATORY]


def get_only_channel(sign_in: Mapping[str, Any]) -> str:
    """Return the kind of address whose code is the only way to sign in, or an empty string."""
    methods = sign_in["methods"]
    channels = {method["identifier"] for method in methods if method["verification_code"]}
    is_only = len(channels) == 1 and not any(method["password"] for method in methods)
    return next(iter(channels)) if is_only else ""


def complete(name: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored object with all its members."""
    return DEFAULTS[name] | dict(stored)


class MfaSerializer(serializers.Serializer[Any]):
    """The second factors of the tenant, and when users are asked for them."""

    factors = serializers.ListField(
        child=Choice(choices=[factor.value for factor in FactorType]),
        required=False,
        max_length=len(FactorType),
        help_text="The factors that users can use after the first one. Empty: none",
    )
    policy = Choice(
        choices=[prompt.value for prompt in Prompt],
        required=False,
        help_text="`NoPrompt` asks only users who have set up a factor. `PromptOnlyAtSignIn` and "
        "`PromptAtSignInAndSignUp` offer once to set one up. `Mandatory` lets nobody sign in without",
    )
    organization_required_mfa_policy = Choice(
        choices=[Prompt.NO_PROMPT.value, Prompt.MANDATORY.value],
        required=False,
        help_text="Whether members of organizations that require a second factor are asked at every sign-in",
    )
    social = Choice(
        choices=[rule.value for rule in SocialRule],
        required=False,
        help_text="Whether a second factor is asked for after a sign-in at another provider: `ask`, "
        "`skip`, or `trust_amr`, which asks unless the provider says that it has asked",
    )

    def validate_social(self, rule: str) -> str:
        """Refuse the rule that cannot be used yet."""
        if rule == SocialRule.TRUST_AMR:
            raise serializers.ValidationError(f"{rule} cannot be used in this version")
        return rule

    def validate_factors(self, factors: list[str]) -> list[str]:
        """Remove repeated factors, and refuse those that cannot be used yet."""
        if later := set(map(FactorType, factors)) - AVAILABLE:
            raise serializers.ValidationError(f"{', '.join(sorted(later))} cannot be used in this version")
        return list(dict.fromkeys(factors))


class _OffForNow(serializers.Serializer[Any]):
    """Settings that are stored, but cannot be switched on in this version."""

    switch = "enabled"

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse to switch on what does not work yet."""
        if attrs.get(self.switch):
            raise serializers.ValidationError({self.switch: "cannot be switched on in this version"})
        return attrs


class PasskeySignInSerializer(serializers.Serializer[Any]):
    """Signing in with a passkey alone."""

    enabled = Flag(required=False, help_text="Whether users can sign in with a passkey alone")
    show_passkey_button = Flag(required=False, help_text="Whether the sign-in page has a button for it")
    allow_autofill = Flag(
        required=False, help_text="Whether browsers offer passkeys in the field for the identifier"
    )
    prompt = Flag(required=False, help_text="It is stored, and has no effect in this version")


class TrustedDevicePolicySerializer(serializers.Serializer[Any]):
    """Browsers in which users need not prove a second factor each time."""

    enabled = Flag(
        required=False,
        help_text="Whether the page of the second factor offers not to ask again in this browser. Switching "
        "it off ends this in all browsers, also if it is switched on again",
    )
    duration_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=365,
        help_text="For how many days. A smaller number also applies to browsers that are already remembered",
    )


class AdaptiveMfaSerializer(serializers.Serializer[Any]):
    """Asking users who have a factor for it when a sign-in is unusual."""

    enabled = Flag(required=False, help_text="Whether the following reasons ask for a second factor")
    new_browser = Flag(required=False, help_text="The user has not signed in with this browser before")
    new_country = Flag(
        required=False,
        help_text="The user's sign-ins within 180 days came from other countries. It needs the setting "
        "COUNTRY_HEADER",
    )
    inactive_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=365,
        help_text="The user has not signed in for this number of days",
    )
    recent_failures = WholeNumber(
        required=False,
        min_value=1,
        max_value=100,
        help_text="This number of sign-ins with an identifier of the user failed within 24 hours",
    )


class AttestationSerializer(_OffForNow):
    """Which authenticators may be registered."""

    switch = "require"

    require = Flag(required=False)
    allowed_aaguids = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=200)
    allow_synced = Flag(required=False)

    def validate_allowed_aaguids(self, models: list[Any]) -> list[str]:
        """Return the models as texts, each once."""
        return list(dict.fromkeys(map(str, models)))


class FactorSettingsSerializer(serializers.Serializer[Any]):
    """The objects of second factors and passkeys."""

    mfa = MfaSerializer(required=False)
    passkey_sign_in = PasskeySignInSerializer(required=False)
    trusted_device_policy = TrustedDevicePolicySerializer(required=False)
    adaptive_mfa = AdaptiveMfaSerializer(required=False)
    attestation = AttestationSerializer(required=False)
    forgot_password_requires_factor = Flag(
        required=False,
        help_text="Whether users who have a second factor other than email and phone prove it before a "
        "forgotten password is replaced",
    )
