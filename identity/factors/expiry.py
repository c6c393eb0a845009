"""Recovery codes that have expired, and browsers that were not used for a long time."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from identity.factors import countries
from identity.factors.models import KnownBrowser, RecoveryGrant, SignInCountry

_KEPT_SECONDS: Final = 3600
_BROWSER_SECONDS: Final = 400 * 24 * 3600  # the longest that browsers keep a cookie (RFC 6265bis)


def _grants() -> QuerySet[RecoveryGrant]:
    return RecoveryGrant.objects.filter(expires_at__lt=seconds_ahead(-_KEPT_SECONDS))


def _browsers() -> QuerySet[KnownBrowser]:
    return KnownBrowser.objects.filter(last_seen_at__lt=seconds_ahead(-_BROWSER_SECONDS))


def _countries() -> QuerySet[SignInCountry]:
    return SignInCountry.objects.filter(last_seen_at__lt=seconds_ahead(-countries.KEPT_SECONDS))


EXPIRING: Final = [
    Expiring("recovery_grants", _grants),
    Expiring("known_browsers", _browsers),
    Expiring("sign_in_countries", _countries),
]
