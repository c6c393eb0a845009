"""Changes of second factors that weaken sign-ins, which an old token of an administrator must not make."""

from collections.abc import Mapping
from typing import Any, Final

from identity.core.proof import TokenTooOld
from identity.factors.kinds import FactorType
from identity.factors.policy import Prompt, SocialRule
from interaction.experience import factor_settings

_ORDER: Final = tuple(Prompt)  # the weakest first
_PROMPTS: Final = ("policy", "organization_required_mfa_policy")


def check(stored: Mapping[str, Any], merged: Mapping[str, Any], *, is_proven: bool) -> None:
    """Check that a caller may change the settings of second factors.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the change weakens sign-ins, and ``is_proven`` is false.

    """
    if not is_proven and _is_weaker(
        factor_settings.complete("mfa", merged), factor_settings.complete("mfa", stored)
    ):
        raise TokenTooOld


def _is_weaker(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    factors, old_factors = set(map(FactorType, new["factors"])), set(map(FactorType, old["factors"]))
    # Codes that go to addresses, which an administrator may have changed before.
    has_new_codes = bool(old_factors) and not (factors - old_factors).isdisjoint(factor_settings.CHANNELS)
    return (
        not old_factors <= factors
        or has_new_codes
        or any(_ORDER.index(Prompt(new[name])) < _ORDER.index(Prompt(old[name])) for name in _PROMPTS)
        or (new["social"] == SocialRule.SKIP != old["social"])
    )
