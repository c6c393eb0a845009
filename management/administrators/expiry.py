"""Expired invitations, which the operators' site shows for a month."""

from datetime import timedelta
from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from management.administrators.models import Invitation

_SHOWN: Final = timedelta(days=30)


def _expired_invitations() -> QuerySet[Invitation]:
    return Invitation.objects.filter(expires_at__lt=seconds_ahead(-int(_SHOWN.total_seconds())))


EXPIRING: Final = [Expiring("invitations", _expired_invitations)]
