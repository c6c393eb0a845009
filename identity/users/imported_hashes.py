"""Password hashes that come from other systems, in PHC or in Django's own form."""

import base64
import binascii
import re
from typing import Final

from django.contrib.auth.hashers import identify_hasher

from identity.core.errors import Invalid

_FIELD: Final = "password_hash"
# Bounds on what verifying may cost: an imported hash must not become a way to stall a worker.
_MOST_MEMORY: Final = 256 * 1024  # KiB
_MOST_ITERATIONS: Final = 5_000_000
_ARGON2: Final = re.compile(
    r"\$argon2(?:id|i|d)\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,2}),p=([0-9]{1,2})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_PBKDF2: Final = re.compile(
    r"\$pbkdf2-(sha256|sha1)\$(?:i=)?([0-9]{1,8})\$([A-Za-z0-9+/.]+)\$([A-Za-z0-9+/.]+)"
)
_SCRYPT: Final = re.compile(
    r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)


def acceptable(text: str) -> str:
    """Return a foreign hash in the form that our hashers verify.

    Raises:
        Invalid: it is of no kind that we know, or would cost too much to verify.

    """
    if match := _ARGON2.fullmatch(text):
        if int(match[1]) > _MOST_MEMORY or int(match[2]) > 16:  # noqa: PLR2004 - passes
            raise Invalid(_FIELD, "asks for too much memory or time")
        return f"argon2{text}"
    if match := _BCRYPT.fullmatch(text):
        if int(match[1]) > 14:  # noqa: PLR2004 - about a second
            raise Invalid(_FIELD, "asks for too much time")
        return f"bcrypt${text}"
    if match := _PBKDF2.fullmatch(text):
        return _pbkdf2(*match.groups())
    if match := _SCRYPT.fullmatch(text):
        return _scrypt(*match.groups())
    return _of_django(text)


def _pbkdf2(digest: str, iterations: str, salt: str, checksum: str) -> str:
    if int(iterations) > _MOST_ITERATIONS:
        raise Invalid(_FIELD, "asks for too much time")
    algorithm = "pbkdf2_sha256" if digest == "sha256" else "pbkdf2_sha1"
    return f"{algorithm}${iterations}${_salt(salt)}${_base64(checksum)}"


def _scrypt(rounds: str, block: str, parallel: str, salt: str, checksum: str) -> str:
    work = 1 << int(rounds)
    if work * int(block) * 128 > _MOST_MEMORY * 1024 or int(parallel) > 16:  # noqa: PLR2004 - lanes
        raise Invalid(_FIELD, "asks for too much memory or time")
    return f"scrypt${work}${_salt(salt)}${block}${parallel}${_base64(checksum)}"


def _of_django(text: str) -> str:
    try:
        hasher = identify_hasher(text)
        summary = hasher.decode(text)
    except (ValueError, KeyError, TypeError, AssertionError):
        raise Invalid(_FIELD, "must be argon2, bcrypt, scrypt or PBKDF2, in PHC form or Django's") from None
    if int(summary.get("iterations") or 0) > _MOST_ITERATIONS:
        raise Invalid(_FIELD, "asks for too much time")
    return text


def _salt(text: str) -> str:
    """Return a salt as Django keeps it: text, not base64."""
    try:
        salt = base64.b64decode(_base64(text), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Invalid(_FIELD, "has a salt of bytes that are no text") from None
    if not salt or "$" in salt:
        raise Invalid(_FIELD, "has a salt that cannot be kept")
    return salt


def _base64(text: str) -> str:
    """Return standard base64 with padding; PHC strings have none, and some put a dot for a plus."""
    return (standard := text.replace(".", "+")) + "=" * (-len(standard) % 4)
