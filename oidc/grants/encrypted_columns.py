"""MACs of refresh tokens: the next token of a family is made with the first key of ENCRYPTION_KEYS."""

from typing import Final

from django.db.models import QuerySet

from database.clock import DatabaseNow
from identity.encryption.columns import EncryptedColumn
from oidc.grants.models import RefreshFamily


def _families() -> QuerySet[RefreshFamily]:
    now = DatabaseNow()
    return RefreshFamily.objects.filter(ended_at=None, idle_expires_at__gt=now, expires_at__gt=now)


ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn(
        "refresh_families",
        _families,
        "key_id",
        moves="at the next refresh, or when REFRESH_TOKEN_IDLE_SECONDS pass",
    )
]
