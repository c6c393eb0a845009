"""Digests of client secrets, which can be renewed only when a client presents its secret."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from oidc.applications.models import Application, ApplicationSecret

_MOVES: Final = "when the application next presents its secret, or is given a new one"

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn(
        "client_secrets",
        lambda: Application.objects.exclude(secret_digest=""),
        "secret_digest",
        moves=_MOVES,
    ),
    EncryptedColumn("further_client_secrets", ApplicationSecret.objects.all, "digest", moves=_MOVES),
]
