"""Digests of client secrets, which can be renewed only when a client presents its secret."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from oidc.applications.models import Application

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn(
        "client_secrets",
        Application.objects.all,
        "secret_digest",
        moves="when the application next presents its secret, or is given a new one",
    )
]
