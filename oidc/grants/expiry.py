"""Grants that are over, and the sessions that nothing of theirs hangs on.

All are kept an hour longer than they count: clocks differ, and requests are under way.
"""

from typing import Final

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from database.clock import DatabaseNow, seconds_ahead
from identity.core.expiry import Expiring
from identity.sessions.models import Session
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, RefreshFamily, RevokedToken

_KEPT_SECONDS: Final = 3600
_OVER: Final = seconds_ahead(-_KEPT_SECONDS)


def _requests() -> QuerySet[AuthorizationRequest]:
    return AuthorizationRequest.objects.filter(expires_at__lt=_OVER)


def _codes() -> QuerySet[AuthorizationCode]:
    """Return codes that are of no use, not even to end what they bought when they come again.

    RFC 6749 section 4.1.2: the server SHOULD revoke all tokens previously issued based on
    that authorization code.
    """
    family = RefreshFamily.objects.filter(
        pk=OuterRef("family_id"),
        ended_at=None,
        idle_expires_at__gt=DatabaseNow(),
        expires_at__gt=DatabaseNow(),
    )
    # Within an OR, PostgreSQL looks each family up by its id, whatever it believes of the tables' sizes.
    no_family = Q(family_id=None) | ~Exists(family)
    no_token = Q(access_token_expires_at=None) | Q(access_token_expires_at__lt=_OVER)
    return AuthorizationCode.objects.filter(no_family, no_token, expires_at__lt=_OVER)


def _families() -> QuerySet[RefreshFamily]:
    # A token of a family that is not there is refused like one of a family that ended.
    return RefreshFamily.objects.filter(
        Q(ended_at__lt=_OVER) | Q(idle_expires_at__lt=_OVER) | Q(expires_at__lt=_OVER)
    )


def _revoked() -> QuerySet[RevokedToken]:
    return RevokedToken.objects.filter(expires_at__lt=_OVER)


def _sessions() -> QuerySet[Session]:
    """Return sessions that are over, unless a code that is kept came from them."""
    idle = seconds_ahead(-_KEPT_SECONDS - settings.SESSION_IDLE_SECONDS)
    return Session.objects.filter(
        Q(ended_at__lt=_OVER) | Q(expires_at__lt=_OVER) | Q(last_used_at__lt=idle),
        ~Exists(AuthorizationCode.objects.filter(session=OuterRef("pk"))),
    )


EXPIRING: Final = [
    Expiring("authorization_requests", _requests),
    Expiring("refresh_families", _families),
    Expiring("authorization_codes", _codes),
    Expiring("revoked_tokens", _revoked),
    Expiring("sessions", _sessions),
]
