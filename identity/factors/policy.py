"""A tenant's policy of second factors, as its sign-in experience stores it, and who it applies to."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from identity.factors.kinds import FactorType
from identity.factors.levels import Level

AVAILABLE: Final = frozenset(FactorType)
# The factors that a user can set up during a sign-in.
ENROLABLE: Final = (FactorType.WEBAUTHN, FactorType.TOTP)


class Prompt(StrEnum):
    """When users without a second factor are asked to set one up."""

    NO_PROMPT = "NoPrompt"
    AT_SIGN_IN = "PromptOnlyAtSignIn"
    AT_SIGN_IN_AND_SIGN_UP = "PromptAtSignInAndSignUp"
    MANDATORY = "Mandatory"


class SocialRule(StrEnum):
    """Whether a second factor is asked for after a sign-in at another provider."""

    ASK = "ask"
    SKIP = "skip"
    TRUST_AMR = "trust_amr"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which second factors a tenant has, and when it asks for them."""

    factors: frozenset[FactorType] = frozenset()
    prompt: Prompt = Prompt.NO_PROMPT
    organization_prompt: Prompt = Prompt.NO_PROMPT
    social: SocialRule = SocialRule.ASK

    @property
    def is_on(self) -> bool:
        """Whether the tenant has any second factor."""
        return bool(self.factors)

    @property
    def highest_level(self) -> int:
        """The highest level that a sign-in with these factors reaches."""
        if not self.is_on:
            return Level.ONE
        return Level.PHISHING_RESISTANT if FactorType.WEBAUTHN in self.factors else Level.TWO


OFF: Final = Policy()


def default_mfa() -> dict[str, Any]:
    """Return settings with which no user is asked for a second factor."""
    return {
        "factors": [],
        "policy": Prompt.NO_PROMPT.value,
        "organization_required_mfa_policy": Prompt.NO_PROMPT.value,
        "social": SocialRule.ASK.value,
    }


def read(stored: Mapping[str, Any]) -> Policy:
    """Return the policy of stored settings. Rows of earlier releases have none."""
    if not stored.get("factors"):
        return OFF
    values = default_mfa() | dict(stored)
    return Policy(
        frozenset(map(FactorType, values["factors"])) & AVAILABLE,
        Prompt(values["policy"]),
        Prompt(values["organization_required_mfa_policy"]),
        SocialRule(values["social"]),
    )
