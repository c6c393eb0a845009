"""Reads and changes of the tenant's sign-in experience."""

from copy import copy
from typing import Any, Final

from django.db import transaction

from audit.events import Event
from database.clock import DatabaseNow
from identity.core import records
from identity.core.tenant_statements import Select
from identity.factors.browsers import TrustedDevices
from identity.factors.policy import SocialRule
from identity.tenants import services as tenants
from interaction.experience import factor_settings, pictures, terms, weaker_factors
from interaction.experience.models import WAYS, SignInExperience, default_password_policy, default_sign_up

# The defaults of members that rows of earlier releases do not have.
_LATER: Final[dict[str, dict[str, Any]]] = {
    "sign_in": {"ways": [*WAYS]},
    "sign_up": default_sign_up(),
    **factor_settings.DEFAULTS,
}
CURRENT: Final = Select(lambda: SignInExperience.objects.select_related("tenant")[:1])


def provision() -> None:
    """Create the experience of a new tenant: the defaults, with common passwords refused."""
    policy = {**default_password_policy(), "reject_common": True}
    SignInExperience.objects.create(password_policy=policy)


def current() -> SignInExperience:
    """Return the experience of the active tenant, with its ``tenant``."""
    experience = CURRENT.first()
    if experience is None:  # the tenant is being deleted
        raise SignInExperience.DoesNotExist
    return experience


def get_trusted_devices() -> TrustedDevices | None:
    """Return for how long the active tenant lets users skip the second factor in a browser, or None."""
    return current().trusted_devices


def has_social_skip() -> bool:
    """Return whether the active tenant asks for no second factor after a sign-in with a social connector."""
    return current().factor_policy.social is SocialRule.SKIP


@transaction.atomic
def change(
    fields: dict[str, Any], *, expected: frozenset[int] | None = None, is_proven: bool
) -> SignInExperience:
    """Change the experience. Objects are merged one level deep, lists and texts are replaced.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the second factors would be weaker, and ``is_proven`` is false.
        records.Stale: the experience was changed since the caller read it.
        terms.NothingToAgreeTo: users must agree to the terms, and there are none.
        factor_settings.BadPolicy: users could be left without a way to sign in.

    """
    # Locked, so that concurrent changes to the same object are not lost.
    experience = SignInExperience.objects.select_for_update().get()
    merged = _merge(experience, fields)
    weaker_factors.check(vars(experience), vars(experience) | merged, is_proven=is_proven)
    if "branding" in merged:
        merged["branding"] = pictures.store(merged["branding"])
    is_switched_on = _switches_on(experience.trusted_device_policy, merged.get("trusted_device_policy", {}))
    if is_switched_on or _removes_factors(experience.mfa, merged.get("mfa")):
        # A browser may be remembered because of a factor that the tenant no longer accepts.
        merged["trusted_devices_since"] = DatabaseNow()
    records.change(
        experience,
        merged,
        event=Event.SIGN_IN_EXPERIENCE_UPDATE,
        expected=expected,
        changed_fields=sorted(fields),
    )
    if {"mfa", "passkey_sign_in"} & merged.keys():
        tenants.set_highest_level(experience.highest_level)
    return experience


def _switches_on(stored: dict[str, Any], merged: dict[str, Any]) -> bool:
    return bool(merged.get("enabled")) and not stored.get("enabled")


def _removes_factors(stored: dict[str, Any], merged: dict[str, Any] | None) -> bool:
    return merged is not None and not {*stored.get("factors", ())} <= {*merged.get("factors", ())}


def build_draft(experience: SignInExperience, fields: dict[str, Any]) -> SignInExperience:
    """Return an unsaved copy of an experience with the changes of ``change``."""
    draft = copy(experience)
    for name, value in _merge(experience, fields).items():
        setattr(draft, name, value)
    return draft


def _merge(experience: SignInExperience, fields: dict[str, Any]) -> dict[str, Any]:
    merged = {
        name: _merge_object(name, getattr(experience, name), value) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    terms.check_documents(fields, vars(experience) | merged)
    if "mfa" in merged or "sign_in" in merged:
        factor_settings.check(vars(experience) | merged)
    return merged


def _merge_object(name: str, stored: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the sent members. A missing later member is not added with its default."""
    later = _LATER.get(name, {})
    added = {member for member in sent if member in later and member not in stored}
    return stored | {
        member: value for member, value in sent.items() if member not in added or value != later[member]
    }
