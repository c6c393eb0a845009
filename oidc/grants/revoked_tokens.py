"""Access tokens that were revoked one by one, which are stored until they expire."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from oidc.grants.models import RevokedToken


@transaction.atomic
def add(
    token_id: str, expires_at: datetime, *, reason: str, user_id: UUID | None, application_id: UUID
) -> None:
    """Revoke a token at all of Gatehouse's own endpoints, and write the audit entry."""
    RevokedToken.objects.bulk_create(
        [RevokedToken(token_id=token_id, expires_at=expires_at)], ignore_conflicts=True
    )
    log.record(
        Event.TOKEN_REVOKE,
        user_id=user_id,
        application_id=application_id,
        result="success",
        reason=reason,
        token_id=token_id,
    )
