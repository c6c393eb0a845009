"""Answers that are a day old, content that is no longer shown, and used values that have expired."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from identity.submissions.models import IdempotencyKey, ShownOnce, UsedOnce


def _answers() -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(expires_at__lt=seconds_ahead(0))


def _shown() -> QuerySet[ShownOnce]:
    return ShownOnce.objects.filter(expires_at__lt=seconds_ahead(0))


def _used() -> QuerySet[UsedOnce]:
    return UsedOnce.objects.filter(expires_at__lt=seconds_ahead(0))


EXPIRING: Final = [
    Expiring("idempotency_keys", _answers),
    Expiring("shown_once", _shown),
    Expiring("used_once", _used),
]
