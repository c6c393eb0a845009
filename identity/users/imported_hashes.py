"""Password hashes of other systems, in PHC or in Django's own format.

The cost of verifying such a hash is limited, so that it cannot stall a worker.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.hashers import identify_hasher
from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.users import verifiable_hashes
from identity.users.foreign_hashers import FirebaseScrypt, Pbkdf2, Scrypt

_FIELD: Final = "password_hash"
_LONGEST: Final = 256  # characters, the size of the column
_MIB: Final = 1024  # KiB
_DIGESTS: Final = {"sha1": 20, "sha256": 32, "sha512": 64}
_CHECKSUM: Final = range(16, 129)  # bytes

_ARGON2: Final = re.compile(
    r"\$argon2(?:id|i|d)\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,4}),p=([0-9]{1,2})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
# The last letter of the salt encodes two bits, that of the checksum four; their other bits are zero.
_BCRYPT: Final = re.compile(
    r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]"
)
_PBKDF2: Final = re.compile(
    r"\$pbkdf2-(sha512|sha256|sha1)\$(?:i=)?([0-9]{1,8})(?:,l=[0-9]{1,3})?\$([A-Za-z0-9+/.]+)=*\$([A-Za-z0-9+/.]+)=*"
)
_SCRYPT: Final = re.compile(
    r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]+)=*\$([A-Za-z0-9+/]+)=*"
)
_DJANGO_SCRYPT: Final = re.compile(
    r"scrypt\$([0-9]{1,9})\$([^$]+)\$([0-9]{1,3})\$([0-9]{1,3})\$([A-Za-z0-9+/]+=*)"
)


@dataclass(frozen=True)
class Bounds:
    """The highest costs of verifying a hash. Memory is in KiB."""

    argon2_memory: int
    argon2_passes: int
    argon2_work: int  # memory of all passes
    argon2_lanes: int
    bcrypt_cost: int
    pbkdf2_rounds: Mapping[str, int]
    scrypt_memory: int
    scrypt_lanes: int
    scrypt_work: int  # memory of all lanes


# For the API and the operators' site: about four times the cost of a hash of Gatehouse.
REQUEST_BOUNDS: Final = Bounds(
    argon2_memory=64 * _MIB,
    argon2_passes=4,
    argon2_work=4 * 64 * _MIB,
    argon2_lanes=4,
    bcrypt_cost=12,
    pbkdf2_rounds={"sha1": 1_000_000, "sha256": 1_000_000, "sha512": 500_000},
    scrypt_memory=64 * _MIB,
    scrypt_lanes=2,
    scrypt_work=2 * 64 * _MIB,
)
# For import_users, which an operator runs: one or two seconds of a core.
IMPORT_BOUNDS: Final = Bounds(
    argon2_memory=256 * _MIB,
    argon2_passes=9_999,
    argon2_work=4_096 * _MIB,
    argon2_lanes=16,
    bcrypt_cost=14,
    pbkdf2_rounds={"sha1": 5_000_000, "sha256": 5_000_000, "sha512": 5_000_000},
    scrypt_memory=256 * _MIB,
    scrypt_lanes=99,
    scrypt_work=512 * _MIB,
)


def normalize(text: str, bounds: Bounds = REQUEST_BOUNDS) -> str:
    """Return a foreign hash in the format of the configured hashers.

    Raises:
        Invalid: its format is unknown, it cannot be verified, or verifying it costs too much.

    """
    return _check_verifiable(_normalize(text, bounds))


def _check_verifiable(encoded: str) -> str:
    if len(encoded) > _LONGEST:
        raise Invalid(_FIELD, gettext_noop("is too long"))
    if "\0" in encoded:  # PostgreSQL cannot store it
        raise _unknown_format()
    if not verifiable_hashes.is_verifiable(encoded):
        raise Invalid(_FIELD, gettext_noop("has a salt, a checksum or costs that its algorithm cannot have"))
    return encoded


def encode_pbkdf2(
    digest: str, iterations: int, salt: bytes, checksum: bytes, bounds: Bounds = IMPORT_BOUNDS
) -> str:
    """Return the stored format of a PBKDF2 hash from its parts.

    Raises:
        Invalid: its format is unknown, or verifying it costs too much.

    """
    if digest not in _DIGESTS or not salt or len(checksum) not in _CHECKSUM or iterations < 1:
        raise Invalid(_FIELD, gettext_noop("is not a PBKDF2 hash with SHA-1, SHA-256 or SHA-512"))
    blocks = -(-len(checksum) // _DIGESTS[digest])
    if iterations * blocks > bounds.pbkdf2_rounds[digest]:
        raise Invalid(_FIELD, gettext_noop("takes too much time to verify"))
    return _join(Pbkdf2.algorithm, digest, iterations, salt, checksum)


def encode_firebase(  # noqa: PLR0913 - the parameters of a Firebase project, and those of an account
    *,
    cost: int,
    rounds: int,
    salt: bytes,
    separator: bytes,
    signer_key: bytes,
    checksum: bytes,
    bounds: Bounds = IMPORT_BOUNDS,
) -> str:
    """Return the stored format of a Firebase hash from its parts.

    Raises:
        Invalid: the signer key is not that of the hash, or verifying it costs too much.

    """
    if not salt or not signer_key or len(checksum) != len(signer_key):
        raise Invalid(_FIELD, gettext_noop("is not a Firebase hash of a project with this signer key"))
    _check_scrypt(cost, rounds, 1, bounds)
    stream = bytes(a ^ b for a, b in zip(checksum, signer_key, strict=True))
    return _check_verifiable(_join(FirebaseScrypt.algorithm, 1 << cost, rounds, salt + separator, stream))


def _normalize(text: str, bounds: Bounds) -> str:
    if match := _ARGON2.fullmatch(text):
        memory, passes, lanes = (int(number) for number in match.groups())
        is_small = memory <= bounds.argon2_memory and memory * passes <= bounds.argon2_work
        if not is_small or passes > bounds.argon2_passes or lanes > bounds.argon2_lanes:
            raise Invalid(_FIELD, gettext_noop("takes too much memory or time to verify"))
        return f"argon2{text}"
    if match := _BCRYPT.fullmatch(text):
        if not 4 <= int(match[1]) <= bounds.bcrypt_cost:  # noqa: PLR2004 - bcrypt's minimum
            raise Invalid(_FIELD, gettext_noop("takes too much time to verify"))
        return f"bcrypt${text}"
    if match := _PBKDF2.fullmatch(text):
        salt, checksum = _decode_base64(match[3]), _decode_base64(match[4])
        return encode_pbkdf2(match[1], int(match[2]), salt, checksum, bounds)
    if match := _SCRYPT.fullmatch(text):
        log_n, r, p = int(match[1]), int(match[2]), int(match[3])
        _check_scrypt(log_n, r, p, bounds)
        return _encode_scrypt(log_n, r, p, _decode_base64(match[4]), _decode_base64(match[5]))
    return _normalize_django(text, bounds)


def _encode_scrypt(log_n: int, r: int, p: int, salt: bytes, checksum: bytes) -> str:
    if not salt or len(checksum) not in _CHECKSUM:
        raise Invalid(_FIELD, gettext_noop("is not a scrypt hash"))
    return _join(Scrypt.algorithm, 1 << log_n, r, p, salt, checksum)


def _check_scrypt(log_n: int, r: int, p: int, bounds: Bounds) -> None:
    if not (1 <= log_n <= 30 and r >= 1 and p >= 1):  # noqa: PLR2004 - the bound on memory is far below 2^30
        raise Invalid(_FIELD, gettext_noop("is not a scrypt hash"))
    memory = (r << log_n) // 8  # KiB
    if memory > bounds.scrypt_memory or p > bounds.scrypt_lanes or memory * p > bounds.scrypt_work:
        raise Invalid(_FIELD, gettext_noop("takes too much memory or time to verify"))


def _normalize_django(text: str, bounds: Bounds) -> str:
    prefix, _, rest = text.partition("$")
    if prefix == "argon2":
        return _normalize_phc(f"${rest}", _ARGON2, bounds)
    if prefix in {"bcrypt", "bcrypt_sha256"}:
        _normalize_phc(rest, _BCRYPT, bounds)
        return text
    if match := _DJANGO_SCRYPT.fullmatch(text):
        n, r, p = int(match[1]), int(match[3]), int(match[4])
        if n.bit_count() == 1:
            log_n = n.bit_length() - 1
            _check_scrypt(log_n, r, p, bounds)
            checksum = _decode_base64(match[5].rstrip("="))
            return _encode_scrypt(log_n, r, p, match[2].encode(), checksum)
    if prefix in {"pbkdf2_sha256", "pbkdf2_sha1"}:
        return _check_django_pbkdf2(text, prefix.removeprefix("pbkdf2_"), bounds)
    raise _unknown_format()


def _normalize_phc(text: str, pattern: re.Pattern[str], bounds: Bounds) -> str:
    if not pattern.fullmatch(text):
        raise _unknown_format()
    return _normalize(text, bounds)


def _check_django_pbkdf2(text: str, digest: str, bounds: Bounds) -> str:
    try:
        parts = identify_hasher(text).decode(text)
        iterations, checksum = int(parts["iterations"]), _decode_base64(parts["hash"].rstrip("="))
    except (ValueError, KeyError, TypeError, AssertionError):
        raise _unknown_format() from None
    if len(checksum) != _DIGESTS[digest]:
        raise _unknown_format()
    if not 1 <= iterations <= bounds.pbkdf2_rounds[digest]:
        raise Invalid(_FIELD, gettext_noop("takes too much time to verify"))
    return text


def _unknown_format() -> Invalid:
    return Invalid(
        _FIELD, gettext_noop("must be argon2, bcrypt, scrypt or PBKDF2, in PHC format or in Django's")
    )


def _join(*parts: str | int | bytes) -> str:
    return "$".join(
        base64.b64encode(part).decode() if isinstance(part, bytes) else str(part) for part in parts
    )


def _decode_base64(text: str) -> bytes:
    """Decode base64 without padding. Some systems write a dot instead of a plus."""
    standard = text.replace(".", "+")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        raise _unknown_format() from None
