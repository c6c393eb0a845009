"""Refresh families: one row each, whose tokens are derived, never stored.

A refresh token is ``family.generation.key.mac``. The row stores the newest generation, and a rotation adds
one to it. During a short grace period, the previous token still gets the same successor, so that a client
can retry. A token of an older generation was replayed, and ends the family (RFC 9700 section 4.14.2).
"""

import hmac
import re
from dataclasses import dataclass
from typing import Any, Final, Self
from uuid import UUID

from django.db.models.functions import Now

from audit import log
from audit.events import Event
from audit.models import Entry
from database import ids, rows
from database.clock import DatabaseNow
from database.statements import AtomicChange, Insert
from identity.core.tenant_statements import Select, Update, duration, text, uuid
from identity.encryption import keyring
from oidc.applications import lifetimes
from oidc.applications.models import Application
from oidc.grants import rotation, token_columns
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.models import RefreshFamily
from oidc.keys import jws

_PURPOSE: Final = "refresh tokens"
_TOKEN: Final = re.compile(r"([0-9a-f-]{36})\.(0|[1-9][0-9]{0,8})\.([0-9a-f]{8})\.([A-Za-z0-9_-]{43})")

INSERT: Final = Insert(
    RefreshFamily,
    including=("level", "remembered", "acr"),
    created_at=DatabaseNow(),
    updated_at=DatabaseNow(),
    idle_expires_at=Now() + duration("idle_lifetime"),
    expires_at=Now() + duration("absolute_lifetime"),
)
_of_client: Final = Select(
    lambda: (
        RefreshFamily.objects.filter(pk=uuid("pk"), application__client_id=text("client_id"))
        .select_related("user", "application")
        .defer(*token_columns.NOT_WITH_FAMILIES, *token_columns.NOT_WITH_APPLICATIONS)
        .annotate(**token_columns.get_signing_keys(), **token_columns.get_state())[:1]
    )
)


_END: Final = AtomicChange(
    Update(
        lambda: RefreshFamily.objects.filter(pk=uuid("pk"), ended_at=None),
        ended_at=Now(),
        end_reason=text("reason"),
    ),
    log.INSERT,
)


@dataclass(frozen=True, slots=True)
class FoundFamily:
    """A refresh family as it is now, with its user and application, and the signing keys.

    ``is_refreshable``: it is live, and within the current lifetimes of its application, as in
    ``RefreshFamilyQuerySet.refreshable``. ``in_grace``: the token before the newest is still accepted.
    ``default_key_id`` is the tenant's default key, ``own_key_id`` that of the application's own algorithm.
    """

    row: RefreshFamily
    is_refreshable: bool
    in_grace: bool
    default_key_id: UUID
    own_key_id: UUID | None

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return a family whose row was read with the annotations of ``token_columns``."""
        return cls(row, row.is_refreshable, row.in_grace, row.default_key_id, row.own_key_id)


@dataclass(frozen=True, slots=True)
class ParsedToken:
    """A refresh token with a valid MAC: its family and generation are authentic."""

    family_id: UUID
    generation: int


def _mac(family_id: UUID, generation: int, key_id: str) -> str:
    return jws.encode(keyring.mac(f"{family_id}.{generation}", purpose=_PURPOSE, key_id=key_id))


def build_token(family: RefreshFamily) -> str:
    """Return the newest refresh token of a family; the result is always the same text."""
    return ".".join(
        (
            str(family.pk),
            str(family.generation),
            family.key_id,
            _mac(family.pk, family.generation, family.key_id),
        )
    )


def parse_token(token: str) -> ParsedToken | None:
    """Return the family and generation of a refresh token, or None if its MAC is wrong."""
    match = _TOKEN.fullmatch(token)
    family_id = ids.parse(match[1]) if match else None
    if match is None or family_id is None:
        return None
    generation = int(match[2])
    try:
        expected = _mac(family_id, generation, match[3])
    except keyring.UnknownKey:
        return None
    return ParsedToken(family_id, generation) if hmac.compare_digest(expected, match[4]) else None


def new_family(  # noqa: PLR0913 - one parameter a column
    *,
    family_id: UUID,
    application: Application,
    sign_in: CodeSignIn,
    scope: str,
    claims: dict[str, list[str]],
    consent_id: UUID | None,
    acr: str = "",
) -> RefreshFamily:
    """Return an unsaved family for a code that granted ``offline_access``; redeeming the code inserts it."""
    family = rows.new(
        RefreshFamily,
        pk=family_id,
        application=application,
        user_id=sign_in.user_id,
        epoch=sign_in.epoch,
        scope=scope,
        claims=claims,
        key_id=keyring.current_id(),
        session_id=sign_in.session_id,
        auth_time=sign_in.auth_time,
        amr=sign_in.amr,
        level=sign_in.level,
        remembered=sign_in.remembered,
        acr=acr,
        consent_id=consent_id,
    )
    family.idle_lifetime = lifetimes.get_refresh_idle(application)
    family.absolute_lifetime = lifetimes.get_refresh_absolute(application)
    return family


def find(family_id: UUID, *, client_id: str) -> FoundFamily | None:
    """Return a family of the application with this client id."""
    row = _of_client.first(pk=family_id, client_id=client_id)
    return FoundFamily.of(row) if row else None


def rotate(family: RefreshFamily, generation: int, entry: Entry) -> RefreshFamily | None:
    """Rotate a family that ``find`` just returned, and return it as it is now; None if the token is refused.

    If the newest generation was presented, one statement writes the next one and the audit entry. If the
    previous one was presented within the grace period, only the entry is written. Any other is refused; a
    replayed generation ends the family (RFC 9700 section 4.14.2).
    """
    if generation == family.generation and rotation.advance(family, entry):
        return family
    found = find(family.pk, client_id=family.application.client_id)
    if found is None or not found.is_refreshable:
        return None
    current = found.row
    if end_if_misused(found, generation) or generation == current.generation:
        return None
    log.write(entry)
    return current


def end_if_misused(found: FoundFamily, generation: int) -> bool:
    """End a family if the presented generation is not accepted, and return whether it was ended."""
    family = found.row
    if generation == family.generation or (generation == family.generation - 1 and found.in_grace):
        return False
    end(
        family.pk,
        reason="replayed" if generation < family.generation else "unknown_generation",
        user_id=family.user_id,
        application_id=family.application_id,
    )
    return True


def end(family_id: UUID, *, reason: str, user_id: UUID, application_id: UUID) -> None:
    """End a family: its refresh tokens and access tokens are refused at once. The first call is audited."""
    entry = log.new_entry(
        Event.TOKEN_REVOKE,
        user_id=user_id,
        application_id=application_id,
        result="success",
        reason=reason,
        family_id=family_id,
    )
    if _END({"pk": family_id, "reason": reason}, entry):
        log.count(entry)
