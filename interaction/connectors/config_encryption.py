"""Encryption of a connector's configuration, bound to its tenant and row."""

from typing import Any, Final
from uuid import UUID

import orjson

from identity.encryption import keyring

PURPOSE: Final = "connector configurations"


def encrypt(config: dict[str, Any], *, tenant_id: str, pk: UUID) -> str:
    """Return the encrypted configuration for a row."""
    return keyring.encrypt(orjson.dumps(config), purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")


def decrypt(encrypted: str, *, tenant_id: str, pk: UUID) -> dict[str, Any]:
    """Return the decrypted configuration of a row.

    Raises:
        keyring.UnknownKey: the text was encrypted for another row, was changed, or its key is missing.

    """
    config: dict[str, Any] = orjson.loads(
        keyring.decrypt(encrypted, purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")
    )
    return config
