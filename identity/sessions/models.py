"""Browser sessions of end users."""

from datetime import UTC, datetime
from typing import Final, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from database.clock import SecondsAgo
from database.expressions import at_most
from identity.core.models import TenantManager, TenantModel
from identity.users.models import User

# For sign-ins at a provider that does not say when the user authenticated. No ``max_age`` accepts this time.
UNKNOWN_AUTH_TIME: Final = datetime.fromtimestamp(0, tz=UTC)


# When the user signed in last. A sign-in that renews a session sets ``updated_at``, except on a node of
# release 0.1.3.
SIGNED_IN_AT: Final = Greatest("updated_at", "auth_time")


def _are_within_lifetimes() -> Q:
    idle = at_most("tenant__session_idle_seconds", settings.SESSION_IDLE_SECONDS)
    absolute = at_most("tenant__session_absolute_seconds", settings.SESSION_ABSOLUTE_SECONDS)
    return Q(last_used_at__gt=SecondsAgo(idle), signed_in_at__gt=SecondsAgo(absolute))


class SessionQuerySet(models.QuerySet["Session"]):
    """Queries for sessions."""

    def live(self) -> Self:
        """Return the sessions that are valid by the clock of the database.

        Of the installation's and the tenant's lifetimes, the shorter applies. A change takes effect at once.
        """
        return self.alias(signed_in_at=SIGNED_IN_AT).filter(
            _are_within_lifetimes(),
            ended_at=None,
            expires_at__gt=Now(),
            user__is_suspended=False,
            user__epoch=F("epoch"),
        )

    def expired(self) -> Self:
        """Return the sessions that have not ended, but have exceeded the current lifetimes."""
        return self.alias(signed_in_at=SIGNED_IN_AT).filter(~_are_within_lifetimes(), ended_at=None)


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
    # Whether the cookie outlives the browser, as the user chose. Null: the tenant did not ask.
    keep_signed_in = models.BooleanField(null=True)
    # How strong the sign-in was: see ``identity.factors.levels``.
    level = models.PositiveSmallIntegerField(default=1, db_default=1)
    # When the user last proved a second factor.
    second_factor_at = models.DateTimeField(null=True)
    # When the user last entered the password in this session, to confirm a change.
    password_confirmed_at = models.DateTimeField(null=True)
    # No second factor was asked for, because the browser is remembered.
    remembered = models.BooleanField(default=False, db_default=False)
    ip = models.CharField(max_length=64)
    user_agent = models.CharField(max_length=512)

    objects = TenantManager.from_queryset(SessionQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "token_hash"], name="session_token_unique"),
            models.CheckConstraint(condition=Q(level__range=(1, 4)), name="session_level"),
            models.CheckConstraint(
                condition=Q(second_factor_at=None) | Q(level__gte=2), name="session_second_factor_has_level"
            ),
            models.CheckConstraint(
                condition=Q(remembered=False) | Q(level__lt=2), name="session_remembered_has_no_level"
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def signed_in_at(self) -> datetime:
        """When the user signed in last: as ``SIGNED_IN_AT``."""
        return max(self.updated_at, self.auth_time)

    @property
    def highest_level(self) -> int:
        """The highest level that the tenant's factors reach.

        Raises:
            AttributeError: the session was not read with ``services.LIVE``.

        """
        level: int | None = getattr(self, "tenant_level", None)
        if level is None:  # with a default, the session would never need a step-up
            raise AttributeError("highest_level: read the session with services.LIVE")
        return level

    @property
    def now(self) -> datetime:
        """The time of the database when ``services.find`` read the session, or the time of this node."""
        read_at: datetime | None = getattr(self, "read_at", None)
        return read_at or timezone.now()

    @property
    def known_auth_time(self) -> datetime | None:
        """When the user authenticated, or None if that is unknown."""
        return self.auth_time if self.auth_time > UNKNOWN_AUTH_TIME else None
