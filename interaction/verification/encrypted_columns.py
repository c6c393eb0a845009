"""The encrypted column of outgoing messages."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("outgoing_messages", OutgoingMessage.objects.all, "sealed", outgoing.PURPOSE)
]
