"""Expired client secrets, listed for an hour after they expire."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from oidc.applications.models import ApplicationSecret

_EXPIRED_BEFORE: Final = seconds_ahead(-3600)


def _secrets() -> QuerySet[ApplicationSecret]:
    return ApplicationSecret.objects.filter(expires_at__lt=_EXPIRED_BEFORE)


EXPIRING: Final = [Expiring("client_secrets", _secrets)]
