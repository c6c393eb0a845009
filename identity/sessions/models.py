"""A browser in which an end user is signed in."""

from datetime import UTC, datetime, timedelta
from typing import Final, Self

from django.conf import settings
from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from identity.core.models import TenantManager, TenantModel
from identity.users.models import User

# When the person proved who they are is not known, because another provider did not say. So long
# ago that no question after a recent sign-in is answered by it.
UNKNOWN_AUTH_TIME: Final = datetime.fromtimestamp(0, tz=UTC)


class SessionQuerySet(models.QuerySet["Session"]):
    """Reads of sessions."""

    def live(self) -> Self:
        """Return sessions that still count: by database time, whatever a clean-up did."""
        return self.filter(
            ended_at=None,
            expires_at__gt=Now(),
            last_used_at__gt=Now() - timedelta(seconds=settings.SESSION_IDLE_SECONDS),
            user__is_suspended=False,
            user__epoch=F("epoch"),
        )


class Session(TenantModel):
    """Its id is the ``sid`` of tokens. The cookie's secret is stored only as a hash."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    token_hash = models.CharField(max_length=64)
    epoch = models.PositiveIntegerField()
    # How and when the user proved who they are (RFC 8176, OpenID Connect Core 2).
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
        """When the user proved who they are, if that is known."""
        return self.auth_time if self.auth_time > UNKNOWN_AUTH_TIME else None
