"""Changes of second factors that weaken sign-ins, which an old token of an administrator must not make."""

from collections.abc import Mapping
from typing import Any, Final

from identity.core.proof import TokenTooOld
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.policy import Prompt, SocialRule
from interaction.experience import factor_settings
from interaction.experience.message_templates import CODES, KEY

_ORDER: Final = tuple(Prompt)  # the weakest first
_PROMPTS: Final = ("policy", "organization_required_mfa_policy")
_RISKS: Final = ("new_browser", "new_country")
_RISK_LIMITS: Final = ("inactive_days", "recent_failures")  # a larger one asks less often


def check(old: Mapping[str, Any], new: Mapping[str, Any], *, is_proven: bool) -> None:
    """Check that a caller may change the members of a sign-in experience from ``old`` to ``new``.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the change weakens sign-ins, and ``is_proven`` is false.

    """
    if not is_proven and _is_weaker(old, new):
        raise TokenTooOld


def _is_weaker(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    has_factors = bool(old["mfa"].get("factors"))
    return (
        _asks_fewer_users(_get("mfa", old), _get("mfa", new))
        # Without factors, nothing is asked for that could be skipped.
        or (has_factors and _skips_more(old, new))
        or (_get("passkey_sign_in", old)["enabled"] and _replaces_passkeys(old, new))
        or _find_code_templates(old) != _find_code_templates(new)
    )


def _find_code_templates(experience: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the templates of messages with a code, in one order.

    A changed template could send the code to another server, and stays when the tenant sets second factors.
    """
    found = [template for template in experience["message_templates"] if template["purpose"] in CODES]
    return sorted(found, key=lambda template: [template[name] for name in KEY])


def _replaces_passkeys(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether passkeys end, or whether the first factors can be used in their place.

    Without factors, only passkeys have the strength that applications, APIs and organizations require. A user
    sets a first factor up with the password alone.
    """
    has_first_factors = not old["mfa"].get("factors") and bool(new["mfa"].get("factors"))
    return has_first_factors or not _get("passkey_sign_in", new)["enabled"]


def _get(name: str, experience: Mapping[str, Any]) -> dict[str, Any]:
    return factor_settings.complete(name, experience[name])


def _asks_fewer_users(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    factors, old_factors = set(map(FactorType, new["factors"])), set(map(FactorType, old["factors"]))
    # Codes that go to addresses, which an administrator may have changed before.
    has_new_codes = bool(old_factors) and not (factors - old_factors).isdisjoint(ADDRESS_OF_FACTOR)
    return (
        not old_factors <= factors
        or has_new_codes
        or any(_ORDER.index(Prompt(new[name])) < _ORDER.index(Prompt(old[name])) for name in _PROMPTS)
        or (new["social"] == SocialRule.SKIP != old["social"])
    )


def _skips_more(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether users who have a factor are asked for it in fewer cases."""
    return (
        new["forgot_password_requires_factor"] < old["forgot_password_requires_factor"]
        or _remembers_longer(_get("trusted_device_policy", old), _get("trusted_device_policy", new))
        or _finds_less_unusual(_get("adaptive_mfa", old), _get("adaptive_mfa", new))
    )


def _remembers_longer(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether users may skip the factor in their browsers for a longer time, or at all."""
    days: int = new["duration_days"] if new["enabled"] else 0
    old_days: int = old["duration_days"] if old["enabled"] else 0
    return days > old_days


def _finds_less_unusual(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether fewer sign-ins are so unusual that they ask for the factor."""
    return bool(old["enabled"]) and (
        not new["enabled"]
        or any(old[name] and not new[name] for name in _RISKS)
        or any(new[name] > old[name] for name in _RISK_LIMITS)
    )
