"""Secrets of trips to a provider, as they lie in the database."""

from typing import Final

from identity.core.sealed import Sealed
from interaction.social import attempts
from interaction.social.models import SocialAttempt

SEALED: Final = [Sealed("social_attempts", SocialAttempt.objects.all, "sealed_secrets", attempts.PURPOSE)]
