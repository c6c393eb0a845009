"""The random tokens in the links of invitations. The database has their hashes."""

import hashlib
import secrets
from typing import Final

_BYTES: Final = 32


def new_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_BYTES)


def hash_token(token: str) -> str:
    """Return the hash by which the invitation of a link is found."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
