"""What a code looks like: six digits, or ten letters and digits where too many were wrong."""

import secrets
import unicodedata
from typing import Final

_DIGITS: Final = 6
_LONG: Final = 10
# Digits and letters that are not taken for one another (Crockford's Base32).
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOKALIKES: Final = str.maketrans("OIL", "011")


def new_code(*, is_long: bool) -> str:
    """Return a random code."""
    if is_long:
        return "".join(secrets.choice(_ALPHABET) for _ in range(_LONG))
    return f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}d}"


def plain(code: str) -> str:
    """Return a code as it was sent, from what a person typed: without spaces, in upper case."""
    typed = "".join(unicodedata.normalize("NFKC", code).split()).replace("-", "")
    return typed.upper().translate(_LOOKALIKES)
