"""Whether a user is asked for a second factor although no policy asks."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core.records import Gone, Stale
from identity.users.models import User


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a user's second factors, and the version of the user's row."""

    two_step: bool
    prompt_skipped_at: datetime | None
    version: int


def get(user: User) -> Settings:
    """Return the settings of a user without a query."""
    return Settings(user.two_step, user.factor_skipped_at, user.version)


def read(user: User) -> Settings:
    """Read the settings of a user from the database, after a change.

    Raises:
        Gone: the user was deleted.

    """
    columns = ("two_step", "factor_skipped_at", "version")
    row = User.objects.filter(pk=user.pk).values_list(*columns).first()
    if row is None:
        raise Gone
    return Settings(*row)


@transaction.atomic
def check_version(user: User, expected: frozenset[int] | None) -> None:
    """Lock the row of a user and check that its version is one of ``expected``; None allows any.

    Raises:
        Stale: the user has another version now.

    """
    if expected is None:
        return
    locked = User.objects.select_for_update(no_key=True).filter(pk=user.pk)
    if locked.values_list("version", flat=True).first() not in expected:
        raise Stale


def skip_prompt(user: User) -> None:
    """Store that a user declined to set up a second factor."""
    User.objects.filter(pk=user.pk).update(factor_skipped_at=timezone.now(), version=F("version") + 1)


def set_two_step(user: User, *, is_on: bool, expected: frozenset[int] | None = None) -> None:
    """Store whether the user is asked for a second factor. Call it in a transaction.

    ``expected`` has the versions of the user that the caller may have read; None allows any.

    Raises:
        Stale: the user has another version now.

    """
    check_version(user, expected)
    others = User.objects.filter(pk=user.pk).exclude(two_step=is_on)
    changed = others.update(two_step=is_on, version=F("version") + 1)
    user.two_step = is_on
    if changed:
        log.record(Event.MFA_SETTINGS_UPDATE, user_id=user.pk, id=user.pk, two_step=is_on)
