"""Password hashes that come from other systems, in PHC or in Django's own form.

Bounds on what verifying may cost: an imported hash must not become a way to stall a worker.
"""

import base64
import binascii
import re
from typing import Final

from django.contrib.auth.hashers import identify_hasher

from identity.core.errors import Invalid
from identity.users.foreign_hashers import FirebaseScrypt, Pbkdf2, Scrypt

_FIELD: Final = "password_hash"
_LONGEST: Final = 256  # characters that are stored
_MOST_MEMORY: Final = 256 * 1024  # KiB
# A second or two of a core, whichever it is.
_MOST_ARGON2: Final = 4 * 1024 * 1024  # KiB, in all passes
_MOST_SCRYPT: Final = 512 * 1024  # KiB, in all lanes
_MOST_ITERATIONS: Final = 5_000_000
_MOST_BCRYPT: Final = 14
_DIGESTS: Final = {"sha1": 20, "sha256": 32, "sha512": 64}
_CHECKSUM: Final = range(16, 129)  # bytes

_ARGON2: Final = re.compile(
    r"\$argon2(?:id|i|d)\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,4}),p=([0-9]{1,2})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_PBKDF2: Final = re.compile(
    r"\$pbkdf2-(sha512|sha256|sha1)\$(?:i=)?([0-9]{1,8})(?:,l=[0-9]{1,3})?\$([A-Za-z0-9+/.]+)=*\$([A-Za-z0-9+/.]+)=*"
)
_SCRYPT: Final = re.compile(
    r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]+)=*\$([A-Za-z0-9+/]+)=*"
)
_DJANGOS_SCRYPT: Final = re.compile(
    r"scrypt\$([0-9]{1,9})\$([^$]+)\$([0-9]{1,3})\$([0-9]{1,3})\$([A-Za-z0-9+/]+=*)"
)


def acceptable(text: str) -> str:
    """Return a foreign hash in the form that our hashers verify.

    Raises:
        Invalid: it is of no kind that we know, or would cost too much to verify.

    """
    encoded = _acceptable(text)
    if len(encoded) > _LONGEST:
        raise Invalid(_FIELD, "is too long")
    return encoded


def pbkdf2(digest: str, iterations: int, salt: bytes, checksum: bytes) -> str:
    """Return what is stored of a PBKDF2 hash that comes in parts.

    Raises:
        Invalid: it is of no kind that we know, or would cost too much to verify.

    """
    if digest not in _DIGESTS or not salt or len(checksum) not in _CHECKSUM or iterations < 1:
        raise Invalid(_FIELD, "is no PBKDF2 hash with SHA-1, SHA-256 or SHA-512")
    blocks = -(-len(checksum) // _DIGESTS[digest])
    if iterations * blocks > _MOST_ITERATIONS:
        raise Invalid(_FIELD, "asks for too much time")
    return _joined(Pbkdf2.algorithm, digest, iterations, salt, checksum)


def firebase(  # noqa: PLR0913 - what the console shows, and what an account has
    *, cost: int, rounds: int, salt: bytes, separator: bytes, signer_key: bytes, checksum: bytes
) -> str:
    """Return what is stored of a hash of Firebase, with the parameters of its project.

    Raises:
        Invalid: the parts do not belong together, or it would cost too much to verify.

    """
    if not salt or not signer_key or len(checksum) != len(signer_key):
        raise Invalid(_FIELD, "is none of Firebase's with this signer key")
    _bound_scrypt(cost, rounds, 1)
    stream = bytes(a ^ b for a, b in zip(checksum, signer_key, strict=True))
    return _joined(FirebaseScrypt.algorithm, 1 << cost, rounds, salt + separator, stream)


def _acceptable(text: str) -> str:
    if match := _ARGON2.fullmatch(text):
        memory, passes = int(match[1]), int(match[2])
        if memory > _MOST_MEMORY or memory * passes > _MOST_ARGON2:
            raise Invalid(_FIELD, "asks for too much memory or time")
        return f"argon2{text}"
    if match := _BCRYPT.fullmatch(text):
        _bound_bcrypt(match[1])
        return f"bcrypt${text}"
    if match := _PBKDF2.fullmatch(text):
        return pbkdf2(match[1], int(match[2]), _bytes(match[3]), _bytes(match[4]))
    if match := _SCRYPT.fullmatch(text):
        return _scrypt(int(match[1]), int(match[2]), int(match[3]), _bytes(match[4]), _bytes(match[5]))
    return _of_django(text)


def _scrypt(log_n: int, r: int, p: int, salt: bytes, checksum: bytes) -> str:
    _bound_scrypt(log_n, r, p)
    if not salt or len(checksum) not in _CHECKSUM:
        raise Invalid(_FIELD, "is no scrypt hash")
    return _joined(Scrypt.algorithm, 1 << log_n, r, p, salt, checksum)


def _bound_scrypt(log_n: int, r: int, p: int) -> None:
    if not (1 <= log_n <= 30 and r >= 1 and p >= 1):  # noqa: PLR2004 - as memory says, far less
        raise Invalid(_FIELD, "is no scrypt hash")
    memory = (r << log_n) // 8  # KiB
    if memory > _MOST_MEMORY or memory * p > _MOST_SCRYPT:
        raise Invalid(_FIELD, "asks for too much memory or time")


def _bound_bcrypt(rounds: str) -> None:
    if not 4 <= int(rounds) <= _MOST_BCRYPT:  # noqa: PLR2004 - bcrypt's own least
        raise Invalid(_FIELD, "asks for too much time")


def _of_django(text: str) -> str:
    prefix, _, rest = text.partition("$")
    if prefix == "argon2":
        return _of_phc(f"${rest}", _ARGON2)
    if prefix in {"bcrypt", "bcrypt_sha256"}:
        _of_phc(rest, _BCRYPT)
        return text
    if match := _DJANGOS_SCRYPT.fullmatch(text):
        n = int(match[1])
        if n.bit_count() == 1:
            return _scrypt(
                n.bit_length() - 1,
                int(match[3]),
                int(match[4]),
                match[2].encode(),
                _bytes(match[5].rstrip("=")),
            )
    if prefix in {"pbkdf2_sha256", "pbkdf2_sha1"}:
        return _djangos_pbkdf2(text)
    raise _unknown()


def _of_phc(text: str, form: re.Pattern[str]) -> str:
    if not form.fullmatch(text):
        raise _unknown()
    return _acceptable(text)


def _djangos_pbkdf2(text: str) -> str:
    try:
        iterations = int(identify_hasher(text).decode(text)["iterations"])
    except (ValueError, KeyError, TypeError, AssertionError):
        raise _unknown() from None
    if not 1 <= iterations <= _MOST_ITERATIONS:
        raise Invalid(_FIELD, "asks for too much time")
    return text


def _unknown() -> Invalid:
    return Invalid(_FIELD, "must be argon2, bcrypt, scrypt or PBKDF2, in PHC form or Django's")


def _joined(*parts: str | int | bytes) -> str:
    return "$".join(
        base64.b64encode(part).decode() if isinstance(part, bytes) else str(part) for part in parts
    )


def _bytes(text: str) -> bytes:
    """Read standard base64 without padding; some systems put a dot for a plus."""
    standard = text.replace(".", "+")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        raise _unknown() from None
