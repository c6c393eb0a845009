"""The formats of codes: six digits, or ten letters and digits after too many wrong codes."""

import secrets
import unicodedata
from typing import Final

_DIGITS: Final = 6
_LONG: Final = 10
# Crockford's Base32: no characters that look alike.
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOKALIKES: Final = str.maketrans("OIL", "011")


def new_code(*, is_long: bool) -> str:
    """Return a random code."""
    if is_long:
        return "".join(secrets.choice(_ALPHABET) for _ in range(_LONG))
    return f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}d}"


def normalize(code: str) -> str:
    """Return an entered code in the form that was sent: upper case, without spaces and hyphens."""
    compact = "".join(unicodedata.normalize("NFKC", code).split()).replace("-", "")
    return compact.upper().translate(_LOOKALIKES)
