"""Configurations of connectors, as they lie in the database."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from interaction.connectors import sealing
from interaction.connectors.models import Connector

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("connectors", Connector.objects.all, "sealed_config", sealing.PURPOSE)
]
