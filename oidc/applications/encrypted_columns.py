"""Digests of client secrets: only who presents the secret can have it hashed anew."""

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
