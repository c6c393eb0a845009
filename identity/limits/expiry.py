"""Expired counters."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from identity.limits.models import Counter

_KEPT_SECONDS: Final = 3600


def _expired_counters() -> QuerySet[Counter]:
    # A lock ends before its window does.
    return Counter.objects.filter(ends_at__lt=seconds_ahead(-_KEPT_SECONDS))


EXPIRING: Final = [Expiring("counters", _expired_counters)]
