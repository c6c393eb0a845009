"""Reading ``ENCRYPTION_KEYS``: the key ring of the installation, whose first key encrypts."""

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Final

from config import env

_KEY_BYTES: Final = 32
_URL_SAFE: Final = str.maketrans("-_", "+/")


def ring(name: str, *, development: bool, kept_in: Path) -> dict[str, bytes]:
    """Return keys of 32 bytes by key id, in the order given.

    Each key is base64url of 32 random bytes; keys are separated by commas. Development generates one at the
    first start and keeps it in the file. Production does not start without one.
    """
    text = env.secret(name, development=development, kept_in=kept_in)
    keys = [_key(name, part.strip()) for part in text.split(",") if part.strip()]
    if not keys:
        raise env.refuse(name, "holds no key")
    return {_id(key): key for key in keys}


def _key(name: str, text: str) -> bytes:
    try:
        # Strictly: a lenient decoder would read two keys without a comma as the first one.
        key = base64.b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise env.refuse(name, "holds a key that is not base64url") from None
    if len(key) != _KEY_BYTES or len(set(key)) < _KEY_BYTES // 4:
        raise env.refuse(name, "each key must be base64url of 32 random bytes")
    return key


def _id(key: bytes) -> str:
    """Return the id of a key: eight hexadecimal digits that reveal nothing about it."""
    return hashlib.sha256(b"gatehouse key id" + key).hexdigest()[:8]
