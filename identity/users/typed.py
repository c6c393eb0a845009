"""Identifiers typed at sign-in, as the audit log stores them: see ``audit.typed``."""

from typing import Final

from django.conf import settings

from audit.typed import TypedIdentifier
from identity.core import tenancy
from identity.encryption import keyring
from identity.users import identifiers

_PURPOSE: Final = "identifiers in the audit log"


def identifier(text: str, *, name: str = "username", is_known: bool = False) -> TypedIdentifier:
    """Return a typed identifier with the key that finds its entries in the active tenant."""
    kind, key = identifiers.parse(text)
    return TypedIdentifier(text, kind.value, _key(f"{kind} {key}", keyring.current_id()), name, is_known)


def keys_of(text: str) -> list[str]:
    """Return the keys of an identifier in the active tenant, one for each encryption key."""
    kind, key = identifiers.parse(text)
    return [_key(f"{kind} {key}", kid) for kid in settings.ENCRYPTION_KEYS]


def _key(identifier: str, kid: str) -> str:
    # Half of the hash is enough to distinguish identifiers.
    hashed = keyring.mac(f"{tenancy.active_id()} {identifier}", purpose=_PURPOSE, key=kid)[:16]
    return f"{kid}.{hashed.hex()}"
