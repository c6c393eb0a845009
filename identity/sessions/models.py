"""Browser sessions of end users."""

from datetime import UTC, datetime, timedelta
from typing import Final, Self

from django.conf import settings
from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from identity.core.models import TenantManager, TenantModel
from identity.users.models import User

# For sign-ins at a provider that does not say when the user authenticated. No ``max_age`` accepts this time.
UNKNOWN_AUTH_TIME: Final = datetime.fromtimestamp(0, tz=UTC)


class SessionQuerySet(models.QuerySet["Session"]):
    """Queries for sessions."""

    def live(self) -> Self:
        """Return the sessions that are valid by the clock of the database."""
        return self.filter(
            ended_at=None,
            expires_at__gt=Now(),
            last_used_at__gt=Now() - timedelta(seconds=settings.SESSION_IDLE_SECONDS),
            user__is_suspended=False,
            user__epoch=F("epoch"),
        )


class Session(TenantModel):
    """A browser session, whose id is the ``sid`` of tokens. Only a hash of its secret is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    token_hash = models.CharField(max_length=64)
    epoch = models.PositiveIntegerField()
    # How and when the user authenticated (RFC 8176, OpenID Connect Core 2).
    amr = models.JSONField(default=list)
    auth_time = models.DateTimeField()
    last_used_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ip = models.CharField(max_length=64)
    user_agent = models.CharField(max_length=512)

    objects = TenantManager.from_queryset(SessionQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "token_hash"], name="session_token_unique"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def known_auth_time(self) -> datetime | None:
        """When the user authenticated, or None if that is unknown."""
        return self.auth_time if self.auth_time > UNKNOWN_AUTH_TIME else None
