"""The formats of stored password hashes, and their costs."""

import base64
import re
import secrets
import string
from typing import Final

OURS: Final = "argon2$argon2id$v=19$m=19456,t=2,p=1$"
_LONGEST_OURS: Final = 128  # characters: libsodium's crypto_pwhash_STRBYTES
_BCRYPT: Final = re.compile(r"bcrypt(?:_sha256)?\$\$2[aby]\$[0-9]{2}\$")
_BCRYPT_LETTERS: Final = f"./{string.ascii_letters}{string.digits}"
_BCRYPT_CHECKSUM: Final = 31  # letters
_DJANGO_SCRYPT: Final = re.compile(r"scrypt\$[0-9]+\$")  # followed by the salt, then the other costs


def is_ours(stored: str) -> bool:
    """Return whether Gatehouse made the hash, with its current costs."""
    return stored.startswith(OURS) and len(stored) <= _LONGEST_OURS


def cost_prefix(stored: str) -> str:
    """Return the part of a hash before the salt: the algorithm and its costs."""
    if match := _BCRYPT.match(stored) or _DJANGO_SCRYPT.match(stored):
        return match[0]
    return f"{stored.rsplit('$', 2)[0]}$"


def new_dummy(stored: str) -> str:
    """Return a hash with the same costs and a random checksum, which no password matches."""
    if _BCRYPT.match(stored):
        checksum = "".join(secrets.choice(_BCRYPT_LETTERS) for _ in range(_BCRYPT_CHECKSUM))
        return stored[:-_BCRYPT_CHECKSUM] + checksum
    beginning, _, checksum = stored.rpartition("$")
    size = len(checksum.rstrip("=")) * 3 // 4
    random = base64.b64encode(secrets.token_bytes(size)).decode()
    return f"{beginning}${random if checksum.endswith('=') else random.rstrip('=')}"
