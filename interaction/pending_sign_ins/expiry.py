"""Expired sign-ins that waited for a second factor."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from interaction.pending_sign_ins.models import PendingSignIn

_KEPT_SECONDS: Final = 3600


def _pending() -> QuerySet[PendingSignIn]:
    return PendingSignIn.objects.filter(expires_at__lt=seconds_ahead(-_KEPT_SECONDS))


EXPIRING: Final = [Expiring("pending_sign_ins", _pending)]
