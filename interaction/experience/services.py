"""The tenant's sign-in experience."""

from typing import Any, Final

from django.db import transaction

from audit.events import Event
from identity.core import records
from identity.core.compiled import Select
from interaction.experience.models import SignInExperience

_current: Final = Select(lambda: SignInExperience.objects.select_related("tenant")[:1])


def provision() -> None:
    """Give a new tenant the default experience."""
    SignInExperience.objects.create()


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
    merged = {
        name: getattr(experience, name) | value if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    records.change(
        experience, merged, event=Event.SIGN_IN_EXPERIENCE_UPDATE, expected=expected, shown=sorted(fields)
    )
    return experience
