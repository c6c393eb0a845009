"""Codes that people print or write down: 80 random bits in base32, shown in groups of four."""

import base64
import secrets
from typing import Final

_BYTES: Final = 10
_GROUP: Final = 4


def new() -> str:
    """Return a new code, without groups."""
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode()


def group(code: str) -> str:
    """Return a code for reading, in groups with dashes between them."""
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))


def normalize(typed: str) -> str:
    """Return a code that a person typed, without spaces and dashes. The case stays."""
    return "".join(typed.split()).replace("-", "")
