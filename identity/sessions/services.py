"""Starting, finding and ending browser sessions."""

import hashlib
import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from audit import context, log
from audit.events import Event
from database import chains, ids, rows
from database.chains import Chain
from database.clock import DatabaseNow
from database.expressions import at_most
from database.statements import AtomicChange
from identity.core.errors import ServiceError
from identity.core.tenant_statements import Select, Update, moment, text, uuid
from identity.sessions import ending, sign_in_statements
from identity.sessions.models import Session
from identity.users.models import User

LIVE: Final = Select(
    lambda: (
        Session.objects.live()
        .filter(token_hash=text("token_hash"))
        .select_related("user")
        .annotate(
            idle_seconds=at_most("tenant__session_idle_seconds", settings.SESSION_IDLE_SECONDS),
            tenant_level=F("tenant__highest_level"),
            read_at=DatabaseNow(),
        )[:1]
    )
)
# These columns are compared in the UPDATE itself. PostgreSQL reads them again after waiting for a concurrent
# sign-out or sign-in, unlike the rows of the subquery. A sign-in sets ``updated_at``. With a provider,
# ``auth_time`` may be earlier or unknown.
_END_FOR_LOGOUT: Final = AtomicChange(
    Update(
        lambda: Session.objects.filter(
            Exists(Session.objects.live().filter(pk=OuterRef("pk"))),
            pk=uuid("pk"),
            user_id=uuid("user_id"),
            ended_at=None,
            auth_time__lt=moment("signed_in_before"),
            updated_at__lt=moment("signed_in_before"),
        ),
        ended_at=Now(),
    ),
    log.INSERT,
)
TOUCH_AFTER: Final = timedelta(minutes=5)  # the precision of ``last_used_at``: fewer writes
_TOUCHES_PER_LIFETIME: Final = 10  # at least, so that a used session stays live


class Ended(Exception):
    """The session that a sign-in was to continue has ended."""


class NoSuchSession(ServiceError):
    """The user has no live session with this id."""

    status = 404
    reason = "session_not_found"
    message = "session not found"


def hash_token(token: str) -> str:
    """Return what is stored of the secret of a session or a browser."""
    return hashlib.sha256(token.encode()).hexdigest()


def start(  # noqa: PLR0913 - what a session stores of the sign-in
    user: User,
    *,
    amr: list[str],
    auth_time: datetime | None = None,
    replacing: Session | None = None,
    seconds: int = settings.SESSION_ABSOLUTE_SECONDS,
    keep_signed_in: bool | None = None,
    level: int = 1,
    has_second_factor: bool = False,
    is_remembered: bool = False,
    replaces_level: bool = True,
    chain: Chain | None = None,
) -> tuple[Session, str]:
    """Start a session and return it with the secret for the browser's cookie (256 bits).

    Only ``interaction.journeys.second_factor``, which knows if a second factor is needed, calls this.
    ``auth_time`` is when the user authenticated, by default now. ``replacing`` is the browser's current
    session. If it is the same user's, it gets a new secret and keeps its id, which is the ``sid`` of tokens.
    Otherwise it is ended. The session ends after ``seconds``, and ``keep_signed_in`` is stored: see
    ``lifetimes``. ``has_second_factor``: the user has just proven a second factor. ``is_remembered``: none
    was asked for, because the browser is remembered. A session that continues keeps a higher level, unless
    the sign-in ``replaces_level``.

    Raises:
        Ended: the session that was to continue has ended: a concurrent sign-out has priority.

    """
    session, token = _new(user, amr=amr, auth_time=auth_time)
    lasts = timedelta(seconds=seconds)
    session.expires_at = session.last_used_at + lasts
    session.keep_signed_in = keep_signed_in
    session.level, session.remembered = level, is_remembered
    session.second_factor_at = session.updated_at if has_second_factor else None
    facts = {"authenticated_at": auth_time, "lasts": lasts, "has_factor": has_second_factor}
    with chains.joined(chain) as writes:
        if replacing is not None and replacing.user_id == user.pk:
            if replacing.level > level and not replaces_level:
                _copy_level(session, replacing)
                facts["has_factor"] = False
            session.pk = replacing.pk
            writes.add(sign_in_statements.CONTINUE, vars(session) | facts, refusal=Ended)
        else:
            if replacing is not None:
                writes.call(partial(end, replacing))
            if ending.is_at_limit(user):
                writes.call(partial(ending.end_excess, user))
            writes.insert(sign_in_statements.BEGIN, session, facts)
    return session, token


def _copy_level(session: Session, replaced: Session) -> None:
    """Copy the level and the second factor of the session that this session replaces."""
    session.level = replaced.level
    # After a sign-in without the password, the earlier second factor may have been a code to the address that
    # is the first factor now. So it confirms no change.
    session.second_factor_at = replaced.second_factor_at if "pwd" in session.amr else None
    session.amr = [*session.amr, *(name for name in replaced.amr if name not in {*session.amr, "pwd"})]
    session.remembered = False


def _new(user: User, *, amr: list[str], auth_time: datetime | None) -> tuple[Session, str]:
    """Return an unsaved session and the secret for the browser's cookie."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    origin = context.current()
    session = rows.new(
        Session,
        user=user,
        token_hash=hash_token(token),
        epoch=user.epoch,
        amr=amr,
        auth_time=auth_time or now,
        last_used_at=now,
        updated_at=now,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )
    return session, token


def find(token: str) -> Session | None:
    """Return the live session of a cookie, with its user and ``highest_level``. Update ``last_used_at``."""
    session = LIVE.first(token_hash=hash_token(token))
    if session is not None:
        record_use(session)
    return session


def record_use(session: Session) -> None:
    """Update ``last_used_at`` of a session that ``LIVE`` has found, if it is too old."""
    if _is_outdated(session):
        Session.objects.filter(pk=session.pk).update(last_used_at=Now())


def _is_outdated(session: Any) -> bool:
    """Return whether the stored time of the last use is too old for the lifetime of the session."""
    precision = min(TOUCH_AFTER, timedelta(seconds=session.idle_seconds / _TOUCHES_PER_LIFETIME))
    return bool(session.now - session.last_used_at > precision)


@transaction.atomic
def end(session: Session) -> None:
    """End a session, which invalidates its cookie and its access tokens."""
    if Session.objects.filter(pk=session.pk, ended_at=None).update(ended_at=Now()):
        log.record(Event.SESSION_END, user_id=session.user_id, session_id=session.pk)


def end_for_logout(
    session_id: UUID, *, user_id: UUID, signed_in_before: datetime, application_id: UUID
) -> bool:
    """End a live session of a user who signed in before this time, at the request of an application.

    Return false if there is no such session. A concurrent sign-in in its browser keeps the session.
    """
    entry = log.new_entry(
        Event.SESSION_END, user_id=user_id, application_id=application_id, session_id=session_id
    )
    values = {"pk": session_id, "user_id": user_id, "signed_in_before": signed_in_before}
    if not _END_FOR_LOGOUT(values, entry):
        return False
    log.count(entry)
    return True


def end_by_id(user: User, session_id: str) -> None:
    """End a live session of a user. ``session_id`` may be any text.

    Raises:
        NoSuchSession: the user has no live session with this id.

    """
    pk = ids.parse(session_id)
    session = Session.objects.live().filter(user=user, pk=pk).first() if pk else None
    if session is None:
        raise NoSuchSession
    end(session)


def end_expired() -> None:
    """End the tenant's sessions that have exceeded its lifetimes, so that longer ones do not revive them.

    There is no audit entry: these sessions were refused before.
    """
    Session.objects.expired().update(ended_at=Now())


@transaction.atomic
def end_others(session: Session) -> int:
    """End every other live session of the same user, and return their number."""
    return ending.end_selected(
        Session.objects.live().filter(user=session.user_id).exclude(pk=session.pk), session.user_id
    )


@transaction.atomic
def end_all(user: User) -> int:
    """End every live session of a user, and return their number."""
    return ending.end_selected(Session.objects.live().filter(user=user), user.pk)
