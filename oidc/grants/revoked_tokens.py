"""Access tokens that were revoked one by one, which are stored until they expire."""

from datetime import datetime
from typing import Final
from uuid import UUID

from audit import log
from audit.events import Event
from database import rows
from database.statements import AtomicChange, Insert
from oidc.grants.models import RevokedToken

_ADD: Final = AtomicChange(Insert(RevokedToken, ignores_conflicts=True), log.INSERT)


def add(
    token_id: str, expires_at: datetime, *, reason: str, user_id: UUID | None, application_id: UUID
) -> None:
    """Revoke a token at all of Gatehouse's own endpoints. The first call is audited."""
    entry = log.new_entry(
        Event.TOKEN_REVOKE,
        user_id=user_id,
        application_id=application_id,
        result="success",
        reason=reason,
        token_id=token_id,
    )
    row = rows.new(RevokedToken, token_id=token_id, expires_at=expires_at)
    if _ADD(vars(row), entry):
        log.count(entry)
