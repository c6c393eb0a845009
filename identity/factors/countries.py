"""The countries from which a user has signed in, as a trusted proxy names them."""

from typing import Final

from database.clock import DatabaseNow, seconds_ahead
from identity.factors.models import SignInCountry
from identity.users.models import User

KEPT_SECONDS: Final = 180 * 24 * 3600


def is_new(user: User, country: str) -> bool:
    """Return whether all sign-ins of a user in the last 180 days came from other countries.

    Return false if there were no sign-ins, or if their countries are unknown.
    """
    seen = SignInCountry.objects.filter(user=user, last_seen_at__gt=seconds_ahead(-KEPT_SECONDS))
    countries = set(seen.values_list("country", flat=True))
    return bool(countries) and country not in countries


def record(user: User, country: str) -> None:
    """Record a sign-in from a country. The user's row is locked."""
    rows = SignInCountry.objects.filter(user=user, country=country)
    if not rows.update(last_seen_at=DatabaseNow()):
        SignInCountry.objects.create(user=user, country=country, last_seen_at=DatabaseNow())
