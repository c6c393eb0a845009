"""The encrypted secrets of authenticators, and the keyed hashes of codes."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from identity.factors import authenticators
from identity.factors.models import Authenticator, BackupCode, RecoveryGrant

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn("authenticators", Authenticator.objects.all, "sealed_secret", authenticators.PURPOSE),
    EncryptedColumn("backup_codes", BackupCode.objects.all, "digest", moves="when their user makes new ones"),
    EncryptedColumn(
        "recovery_grants", RecoveryGrant.objects.all, "digest", moves="never: they expire within a day"
    ),
]
