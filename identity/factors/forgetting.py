"""Forgetting the browsers of a user, or asking for the second factor in them again: see ``browsers``."""

from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from database import ids
from identity.core.errors import ServiceError
from identity.factors import remembered_grants
from identity.factors.models import KnownBrowser
from identity.users import row_locks
from identity.users.models import User


class NoSuchBrowser(ServiceError):
    """The user has no browser with this id."""

    status = 404
    reason = "trusted_device_not_found"
    message = "trusted device not found"


def end_remembered(user: User) -> None:
    """Ask a user for the second factor again in every browser, in a transaction. The browsers stay known."""
    remembered = KnownBrowser.objects.filter(user=user).exclude(remembered_until=None)
    remembered.update(
        remembered_at=None,
        remembered_until=None,
        remembered_since=None,
        remembered_epoch=None,
        remembered_level=None,
    )
    remembered_grants.end(user)


@transaction.atomic
def forget(user: User, browser_id: str) -> None:
    """Forget one browser of a user. ``browser_id`` may be any text.

    Raises:
        NoSuchBrowser: the user has no browser with this id.

    """
    pk: UUID | None = ids.parse(browser_id)
    row_locks.lock(user)
    if pk is None or not KnownBrowser.objects.filter(user=user, pk=pk).delete()[0]:
        raise NoSuchBrowser
    remembered_grants.end(user)
    log.record(Event.TRUSTED_DEVICE_DELETE, user_id=user.pk, id=user.pk, device_id=pk)


@transaction.atomic
def forget_all(user: User) -> None:
    """Forget all browsers of a user, both remembered and known ones."""
    row_locks.lock(user)
    count, _ = KnownBrowser.objects.filter(user=user).delete()
    remembered_grants.end(user)
    if count:
        log.record(Event.TRUSTED_DEVICE_DELETE, user_id=user.pk, id=user.pk, count=count)
