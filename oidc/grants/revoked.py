"""Access tokens that were taken back one by one: remembered until they would have expired."""

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
    """Refuse a token from now on, wherever we accept tokens. Audited."""
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
