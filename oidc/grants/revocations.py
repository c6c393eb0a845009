"""Ending refresh families for users and administrators, which revokes all their tokens at once."""

from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from database.list_parameters import among
from identity.core.errors import ServiceError
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.models import AuthorizationCode, RefreshFamily

BY_ADMINISTRATOR: Final = "ended_by_administrator"
BY_USER: Final = "ended_by_user"
TOO_MANY: Final = "too_many"
MOST: Final = 50  # live families of a user at one application
KEPT: Final = 40  # of more than these, so that the next sign-ins find nothing to end
_BATCH: Final = 500
_FIRST_ID: Final = UUID(int=0)


class NoSuchGrant(ServiceError):
    """The user has no live refresh family with this id."""

    status = 404
    reason = "grant_not_found"
    message = gettext_noop("grant not found")


def end_by_id(user: User, family_id: str, *, reason: str) -> None:
    """End a live refresh family of a user. ``family_id`` may be any text.

    Raises:
        NoSuchGrant: the user has no live family with this id.

    """
    pk = ids.parse(family_id)
    family = RefreshFamily.objects.live().filter(user=user, pk=pk).first() if pk else None
    if family is None:
        raise NoSuchGrant
    families.end(family.pk, reason=reason, user_id=user.pk, application_id=family.application_id)


@transaction.atomic
def end_for_user(user: User, *, reason: str, application: Application | None = None) -> int:
    """End the live refresh families of a user, or those of one application, and return their number."""
    filters: dict[str, Any] = {"user": user}
    if application is not None:
        filters["application"] = application
    _delete_codes(filters)
    return _end_and_record(
        filters, reason, user_id=user.pk, application_id=application.pk if application else None
    )


def is_user_at_limit() -> Exists:
    """Return the annotation of a code: its user has ``MOST`` families at its application.

    Those that have expired count until something ends them, and ``end_excess`` leaves them out. This keeps
    the statement short: see ``token_columns``.
    """
    not_ended = RefreshFamily.objects.filter(
        user=OuterRef("user"), application=OuterRef("application"), ended_at=None
    )
    return Exists(not_ended[MOST - 1 :])


@transaction.atomic
def end_excess(*, user_id: UUID, application_id: UUID) -> int:
    """End live families of a user who has more than ``MOST`` at an application.

    The ``KEPT`` families that were used last stay. Return the number of those that have ended.

    Families that concurrent requests have begun count too, so the last of these requests ends what is too
    many.
    """
    live = RefreshFamily.objects.live().filter(user=user_id, application=application_id)
    unused = list(live.order_by("-rotated_at", "-pk").values_list("pk", flat=True)[KEPT:])
    excess = unused if len(unused) > MOST - KEPT else []
    return _end_and_record({"pk__in": excess}, TOO_MANY, user_id=user_id, application_id=application_id)


def end_for_application(application: Application, *, reason: str) -> int:
    """End the live refresh families of all users of an application, and return their number.

    There can be very many, so each batch has its own transaction, and refreshes of the application never
    wait for all of them. The audit entry comes first: if the process ends in between, the log names what was
    begun, and a second call ends the rest.
    """
    filters = {"application": application}
    with transaction.atomic():
        _delete_codes(filters)
        log.record(
            Event.TOKEN_REVOKE,
            application_id=application.pk,
            result="success",
            reason=reason,
            families=RefreshFamily.objects.live().filter(**filters).count(),
        )
    return _end_all(filters, reason)


def _delete_codes(filters: dict[str, Any]) -> None:
    # Before families are read: if a code is being redeemed concurrently, its family exists then.
    AuthorizationCode.objects.filter(consumed_at=None, **filters).delete()


def _end_and_record(
    filters: dict[str, Any], reason: str, *, user_id: UUID, application_id: UUID | None
) -> int:
    ended = _end_all(filters, reason)
    if ended:
        log.record(
            Event.TOKEN_REVOKE,
            user_id=user_id,
            application_id=application_id,
            result="success",
            reason=reason,
            families=ended,
        )
    return ended


def _end_all(filters: dict[str, Any], reason: str) -> int:
    last, ended = _FIRST_ID, 0
    while True:
        batch = _end_batch(filters, last, reason)
        ended += len(batch)
        if len(batch) < _BATCH:
            return ended
        last = batch[-1]


@transaction.atomic
def _end_batch(filters: dict[str, Any], after: UUID, reason: str) -> list[UUID]:
    """End the next families in the order of their ids, in which concurrent calls lock them too."""
    live = RefreshFamily.objects.live().filter(pk__gt=after, **filters).order_by("pk")
    locked = live.select_for_update(of=("self",), no_key=True)
    batch = list(locked.values_list("pk", flat=True)[:_BATCH])
    RefreshFamily.objects.filter(among("pk", batch)).update(ended_at=Now(), end_reason=reason)
    return batch
