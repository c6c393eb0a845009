"""Ending many sessions of a user, and the limit on how many may be live."""

from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from audit import log
from audit.events import Event
from database.list_parameters import among, among_selected
from identity.sessions.models import Session, SessionQuerySet
from identity.users.models import User

MOST: Final = 1_000  # live sessions of a user
KEPT: Final = 900  # of more than these, so that the next sign-ins find nothing to end
_TOO_MANY: Final = "too_many"
_MAX_LOGGED_IDS: Final = 100


def end_selected(sessions: SessionQuerySet, user_id: UUID, **facts: str) -> int:
    """End the sessions of a user that a query selects, and return their number.

    The caller has a transaction.
    """
    named = list(sessions.values_list("pk", flat=True)[:_MAX_LOGGED_IDS])
    if not named:
        return 0
    # In the order of their ids, so that concurrent calls do not deadlock. There may be more sessions than a
    # statement can have parameters.
    locked = sessions.select_for_update(of=("self",), no_key=True).order_by("pk").values("pk")
    ended = Session.objects.filter(among_selected("pk", locked), ended_at=None).update(ended_at=Now())
    ids = [str(pk) for pk in named]
    log.record(Event.SESSION_END, user_id=user_id, count=ended, session_ids=ids, **facts)
    return ended


def is_at_limit(user: User) -> bool:
    """Return whether a user has as many live sessions as a user may have.

    Each of them began with a sign-in, so a user with fewer sign-ins needs no query.
    """
    if user.login_count < MOST:
        return False
    return Session.objects.live().filter(user=user)[MOST - 1 :].exists()


@transaction.atomic
def end_excess(user: User) -> int:
    """End the live sessions of a user except the ``KEPT`` that were used last, and return their number."""
    live = Session.objects.live().filter(user=user)
    excess = list(live.order_by("-last_used_at", "-pk").values_list("pk", flat=True)[KEPT:])
    return end_selected(Session.objects.filter(among("pk", excess)), user.pk, reason=_TOO_MANY)
