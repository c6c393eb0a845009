"""Expired rows of signing keys' usage, kept for an hour because clocks differ."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from oidc.keys.models import SigningKeyUsage

_EXPIRED_BEFORE: Final = seconds_ahead(-3600)


def _usage() -> QuerySet[SigningKeyUsage]:
    return SigningKeyUsage.objects.filter(expires_at__lt=_EXPIRED_BEFORE)


EXPIRING: Final = [Expiring("signing_key_usage", _usage)]
