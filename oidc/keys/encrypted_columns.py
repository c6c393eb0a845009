"""The encrypted private keys of signing keys."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from oidc.keys import signing
from oidc.keys.models import SigningKey

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("signing_keys", SigningKey.objects.all, "sealed_private_key", signing.PURPOSE)
]
