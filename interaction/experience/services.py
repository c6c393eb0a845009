"""The tenant's sign-in experience."""

from copy import copy
from typing import Any, Final

from django.db import transaction

from audit.events import Event
from identity.core import records
from identity.core.tenant_statements import Select
from interaction.experience.models import SignInExperience, default_password_policy

_current: Final = Select(lambda: SignInExperience.objects.select_related("tenant")[:1])


def provision() -> None:
    """Give a new tenant the default experience, in which common passwords are refused."""
    policy = {**default_password_policy(), "reject_common": True}
    SignInExperience.objects.create(password_policy=policy)


def current() -> SignInExperience:
    """Return the experience of the active tenant, with the tenant's own row."""
    experience = _current.first()
    if experience is None:  # the tenant is being deleted
        raise SignInExperience.DoesNotExist
    return experience


@transaction.atomic
def change(fields: dict[str, Any], *, expected: frozenset[int] | None = None) -> SignInExperience:
    """Change the experience: objects merge one level deep, lists and texts are replaced.

    Raises:
        records.Stale: it was changed since the caller read it.

    """
    # Held, so that of two changes to one object neither is lost.
    experience = SignInExperience.objects.select_for_update().get()
    records.change(
        experience,
        _merged(experience, fields),
        event=Event.SIGN_IN_EXPERIENCE_UPDATE,
        expected=expected,
        shown=sorted(fields),
    )
    return experience


def merged(experience: SignInExperience, fields: dict[str, Any]) -> SignInExperience:
    """Return what ``change`` would make of an experience; nothing is stored."""
    draft = copy(experience)
    for name, value in _merged(experience, fields).items():
        setattr(draft, name, value)
    return draft


def _merged(experience: SignInExperience, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: getattr(experience, name) | value if isinstance(value, dict) else value
        for name, value in fields.items()
    }
