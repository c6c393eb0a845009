"""The encrypted column of connectors."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from interaction.connectors import config_encryption
from interaction.connectors.models import Connector

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("connectors", Connector.objects.all, "sealed_config", config_encryption.PURPOSE)
]
