"""Encrypting a connector's configuration, bound to the tenant and the row it belongs to."""

from typing import Any, Final
from uuid import UUID

import orjson

from identity.encryption import keyring

PURPOSE: Final = "connector configurations"


def seal(config: dict[str, Any], *, tenant_id: str, pk: UUID) -> str:
    """Encrypt a configuration for one row."""
    return keyring.seal(orjson.dumps(config), purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")


def unseal(sealed: str, *, tenant_id: str, pk: UUID) -> dict[str, Any]:
    """Return the configuration of a row.

    Raises:
        keyring.UnknownKey: it was made for another row, was altered, or its key is gone.

    """
    config: dict[str, Any] = orjson.loads(
        keyring.unseal(sealed, purpose=PURPOSE, bound_to=f"{tenant_id}/{pk}")
    )
    return config
