"""Expired grants, and expired sessions that no stored code refers to.

Rows are kept for an hour after they expire, because clocks differ and requests may still be running.
"""

from typing import Final

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from database.clock import DatabaseNow, seconds_ahead
from identity.core.expiry import Expiring
from identity.sessions.models import Session
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, RefreshFamily, RevokedToken

_KEPT_SECONDS: Final = 3600
_EXPIRED_BEFORE: Final = seconds_ahead(-_KEPT_SECONDS)


def _requests() -> QuerySet[AuthorizationRequest]:
    return AuthorizationRequest.objects.filter(expires_at__lt=_EXPIRED_BEFORE)


def _codes() -> QuerySet[AuthorizationCode]:
    """Return expired codes whose tokens have ended too; until then a replayed code must be recognised.

    RFC 6749 section 4.1.2: the server SHOULD revoke all tokens previously issued based on
    that authorization code.
    """
    family = RefreshFamily.objects.filter(
        pk=OuterRef("family_id"),
        ended_at=None,
        idle_expires_at__gt=DatabaseNow(),
        expires_at__gt=DatabaseNow(),
    )
    # Within an OR, PostgreSQL looks up each family by its id, whatever table sizes it estimates.
    no_family = Q(family_id=None) | ~Exists(family)
    no_token = Q(access_token_expires_at=None) | Q(access_token_expires_at__lt=_EXPIRED_BEFORE)
    return AuthorizationCode.objects.filter(no_family, no_token, expires_at__lt=_EXPIRED_BEFORE)


def _families() -> QuerySet[RefreshFamily]:
    # A token of a deleted family is refused like one of a family that has ended.
    return RefreshFamily.objects.filter(
        Q(ended_at__lt=_EXPIRED_BEFORE)
        | Q(idle_expires_at__lt=_EXPIRED_BEFORE)
        | Q(expires_at__lt=_EXPIRED_BEFORE)
    )


def _revoked() -> QuerySet[RevokedToken]:
    return RevokedToken.objects.filter(expires_at__lt=_EXPIRED_BEFORE)


def _sessions() -> QuerySet[Session]:
    """Return ended and expired sessions that no stored code refers to."""
    idle = seconds_ahead(-_KEPT_SECONDS - settings.SESSION_IDLE_SECONDS)
    return Session.objects.filter(
        Q(ended_at__lt=_EXPIRED_BEFORE) | Q(expires_at__lt=_EXPIRED_BEFORE) | Q(last_used_at__lt=idle),
        ~Exists(AuthorizationCode.objects.filter(session=OuterRef("pk"))),
    )


EXPIRING: Final = [
    Expiring("authorization_requests", _requests),
    Expiring("refresh_families", _families),
    Expiring("authorization_codes", _codes),
    Expiring("revoked_tokens", _revoked),
    Expiring("sessions", _sessions),
]
