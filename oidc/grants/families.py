"""Refresh families: one row each, whose tokens are derived, never stored.

A refresh token is ``family.generation.key.mac``. The row says which generation is the
newest. Rotating adds one to it; the token before the newest is answered, for a short
grace, with the very same successor, so that a retry loses nothing; anything older was
stolen or lost, and ends the family (RFC 9700 section 4.14.2).
"""

import hmac
import re
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, F, Q, Subquery
from django.db.models.functions import Now

from audit import log
from audit.events import Event
from audit.models import Entry
from database import ids
from database.statements import Chain, Insert
from identity.core.tenant_statements import Select, Update, number, text, uuid
from identity.encryption import keyring
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from oidc.keys import jws
from oidc.keys.models import SigningKey

_PURPOSE: Final = "refresh tokens"
_TOKEN: Final = re.compile(r"([0-9a-f-]{36})\.(0|[1-9][0-9]{0,8})\.([0-9a-f]{8})\.([A-Za-z0-9_-]{43})")
_IDLE: Final = timedelta(seconds=settings.REFRESH_TOKEN_IDLE_SECONDS)
_ABSOLUTE: Final = timedelta(seconds=settings.REFRESH_TOKEN_ABSOLUTE_SECONDS)
_GRACE: Final = timedelta(seconds=settings.REFRESH_TOKEN_GRACE_SECONDS)


def _in_time() -> Q:
    return Q(ended_at=None, idle_expires_at__gt=Now(), expires_at__gt=Now())


INSERT: Final = Insert(RefreshFamily, idle_expires_at=Now() + _IDLE, expires_at=Now() + _ABSOLUTE)
_of_client: Final = Select(
    lambda: (
        RefreshFamily.objects.filter(pk=uuid("pk"), application__client_id=text("client_id"))
        .select_related("user", "application")
        .annotate(
            active_key_id=Subquery(SigningKey.objects.active().values("pk")[:1]),
            is_live=ExpressionWrapper(
                _in_time() & Q(user__is_suspended=False, user__epoch=F("epoch")), output_field=BooleanField()
            ),
            in_grace=ExpressionWrapper(Q(rotated_at__gt=Now() - _GRACE), output_field=BooleanField()),
        )[:1]
    )
)
# It names one table only. Across a join (to the user, as ``live`` has) Django asks for the ids in a
# subquery, which PostgreSQL does not run again after it waited for another rotation: two would
# succeed, and skip a generation.
_rotate: Final = Chain(
    Update(
        lambda: RefreshFamily.objects.filter(_in_time(), pk=uuid("pk"), generation=number("generation")),
        generation=F("generation") + 1,
        key_id=text("key_id"),
        rotated_at=Now(),
        idle_expires_at=Now() + _IDLE,
    ),
    log.INSERT,
)
_end: Final = Chain(
    Update(
        lambda: RefreshFamily.objects.filter(pk=uuid("pk"), ended_at=None),
        ended_at=Now(),
        end_reason=text("reason"),
    ),
    log.INSERT,
)


@dataclass(frozen=True, slots=True)
class FoundFamily:
    """A refresh family as it is now, with its user and application, and the tenant's active signing key.

    ``is_live``: it has not ended or expired, and its user still counts. ``in_grace``: the token before the
    newest is still answered.
    """

    row: RefreshFamily
    is_live: bool
    in_grace: bool
    active_key_id: UUID


@dataclass(frozen=True, slots=True)
class Presented:
    """A refresh token that we made: its family and generation are authentic."""

    family_id: UUID
    generation: int


class Outcome(Enum):
    """What became of a presented generation."""

    ROTATED = auto()
    REPEATED = auto()
    REFUSED = auto()


def _mac(family_id: UUID, generation: int, key_id: str) -> str:
    return jws.encode(keyring.mac(f"{family_id}.{generation}", purpose=_PURPOSE, key=key_id))


def build_token(family: RefreshFamily) -> str:
    """Return the newest refresh token of a family: the same text each time."""
    return ".".join(
        (
            str(family.pk),
            str(family.generation),
            family.key_id,
            _mac(family.pk, family.generation, family.key_id),
        )
    )


def parse_token(token: str) -> Presented | None:
    """Return the family and generation of a refresh token, if its MAC is ours."""
    match = _TOKEN.fullmatch(token)
    family_id = ids.parse(match[1]) if match else None
    if match is None or family_id is None:
        return None
    generation = int(match[2])
    try:
        expected = _mac(family_id, generation, match[3])
    except keyring.UnknownKey:
        return None
    return Presented(family_id, generation) if hmac.compare_digest(expected, match[4]) else None


def new_family(  # noqa: PLR0913 - what a family remembers
    *,
    family_id: UUID,
    application: Application,
    session: Session,
    scope: str,
    claims: dict[str, list[str]],
    consent_id: UUID | None,
) -> RefreshFamily:
    """Return an unsaved family for a code that granted ``offline_access``; redeeming the code inserts it."""
    return RefreshFamily(
        pk=family_id,
        application=application,
        user_id=session.user_id,
        epoch=session.epoch,
        scope=scope,
        claims=claims,
        key_id=keyring.current(),
        session_id=session.pk,
        auth_time=session.auth_time,
        amr=session.amr,
        consent_id=consent_id,
    )


def find(family_id: UUID, *, client_id: str) -> FoundFamily | None:
    """Return a family of the application with this client id."""
    row: Any = _of_client.first(pk=family_id, client_id=client_id)
    return FoundFamily(row, row.is_live, row.in_grace, row.active_key_id) if row else None


def advance(family: RefreshFamily, generation: int, entry: Entry) -> tuple[Outcome, RefreshFamily]:
    """Rotate a family that ``find`` just returned, and return the outcome with the family as it is now.

    ``ROTATED``: the newest generation was presented; the next one and the audit entry are written in one
    statement. ``REPEATED``: the one before, within the grace; nothing but the entry is written. ``REFUSED``:
    anything else; a replayed generation ends the family (RFC 9700 section 4.14.2).
    """
    if generation == family.generation and _moved(family, entry):
        return Outcome.ROTATED, family
    found = find(family.pk, client_id=family.application.client_id)
    if found is None or not found.is_live:
        return Outcome.REFUSED, family
    current = found.row
    if generation == current.generation - 1 and found.in_grace:
        log.write(entry)
        return Outcome.REPEATED, current
    if generation != current.generation:
        reason = "replayed" if generation < current.generation else "unknown_generation"
        end(
            current.pk,
            reason=reason,
            user_id=current.user_id,
            application_id=current.application_id,
        )
    return Outcome.REFUSED, current


def _moved(family: RefreshFamily, entry: Entry) -> bool:
    """Move to the next generation unless somebody else just did: one UPDATE decides."""
    key_id = keyring.current()
    if not _rotate({"pk": family.pk, "generation": family.generation, "key_id": key_id}, entry):
        return False
    log.count(entry)
    family.generation += 1
    family.key_id = key_id
    return True


def end(family_id: UUID, *, reason: str, user_id: UUID, application_id: UUID) -> None:
    """End a family: its refresh tokens and access tokens are refused at once. Audited, once."""
    entry = log.entry(
        Event.TOKEN_REVOKE,
        user_id=user_id,
        application_id=application_id,
        result="success",
        reason=reason,
        family_id=family_id,
    )
    if _end({"pk": family_id, "reason": reason}, entry):
        log.count(entry)
