"""Encryption of a connector's configuration, bound to its tenant and row."""

from typing import Any, Final
from uuid import UUID

import orjson

from identity.encryption import keyring

PURPOSE: Final = "connector configurations"


def encrypt(config: dict[str, Any], *, tenant_id: str, pk: UUID) -> str:
    """Return the configuration of one row, encrypted."""
    return keyring.encrypt(orjson.dumps(config), purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")


def decrypt(encrypted: str, *, tenant_id: str, pk: UUID) -> dict[str, Any]:
    """Return the configuration of a row, decrypted.

    Raises:
        keyring.UnknownKey: it was encrypted for another row, was altered, or its key is missing.

    """
    config: dict[str, Any] = orjson.loads(
        keyring.decrypt(encrypted, purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")
    )
    return config
