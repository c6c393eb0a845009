"""Expired sign-ins at external providers."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from interaction.social.models import SocialAttempt

_KEPT_SECONDS: Final = 3600


def _attempts() -> QuerySet[SocialAttempt]:
    return SocialAttempt.objects.filter(expires_at__lt=seconds_ahead(-_KEPT_SECONDS))


EXPIRING: Final = [Expiring("social_attempts", _attempts)]
