"""The encrypted column of pending social sign-ins."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from interaction.social import attempts
from interaction.social.models import SocialAttempt

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("social_attempts", SocialAttempt.objects.all, "sealed_secrets", attempts.PURPOSE)
]
