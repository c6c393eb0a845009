"""The reader of ``ENCRYPTION_KEYS``, the key ring of the installation. Its first key encrypts."""

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Final

from config import env

_KEY_BYTES: Final = 32
_RULE: Final = (
    "must be keys in base64url of 32 random bytes each, separated by commas (docs/configuration.md); "
    'to print one: python3 -c "import base64, secrets; '
    'print(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())"'
)
_URL_SAFE: Final = str.maketrans("-_", "+/")


def ring(name: str, *, development: bool, kept_in: Path) -> dict[str, bytes]:
    """Return the keys of 32 bytes by key id, in the order of the variable.

    The variable has keys in base64url, separated by commas. In development, the first start generates a key
    and stores it in the file ``kept_in``. Production does not start without a key.
    """
    text = env.secret(name, development=development, kept_in=kept_in, rule=_RULE)
    keys = [_key(name, part.strip()) for part in text.split(",") if part.strip()]
    if not keys:
        raise env.refuse(name, _RULE)
    return {_id(key): key for key in keys}


def _key(name: str, text: str) -> bytes:
    try:
        # A lenient decoder would ignore the second of two keys without a comma between them.
        key = base64.b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise env.refuse(name, _RULE) from None
    if len(key) != _KEY_BYTES or len(set(key)) < _KEY_BYTES // 4:
        raise env.refuse(name, _RULE)
    return key


def _id(key: bytes) -> str:
    """Return the id of a key: eight hexadecimal digits that do not reveal the key."""
    return hashlib.sha256(b"gatehouse key id" + key).hexdigest()[:8]
