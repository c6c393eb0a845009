"""Checking that a foreign password hash can be verified, by trying it with the lowest costs."""

import re
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, VerifyMismatchError
from django.contrib.auth.hashers import identify_hasher

_PASSWORD: Final = "a password to try"  # noqa: S105 - never stored
_ARGON2: Final = re.compile(r"\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$")
_SCRYPT: Final = re.compile(r"(scrypt_bytes|firebase_scrypt)\$([0-9]+)\$([0-9]+)")
# The pattern of each cost parameter, and the lowest value that its algorithm accepts.
_CHEAPEST: Final = (
    (re.compile(r"(bcrypt(?:_sha256)?\$\$2[aby]\$)[0-9]{2}"), "04"),
    (re.compile(r"(pbkdf2_bytes\$\w+\$)[0-9]+"), "1"),
    (re.compile(r"(pbkdf2_sha(?:256|1)\$)[0-9]+"), "1"),
    (re.compile(r"((?:scrypt_bytes|firebase_scrypt)\$)[0-9]+"), "2"),
)
_BLOCKS_PER_LANE: Final = 8
_MAX_LOG_N_PER_R: Final = 16  # RFC 7914 section 2: N is less than 2^(128 * r / 8)


def is_verifiable(encoded: str) -> bool:
    """Return whether a hash has a valid salt, checksum and costs."""
    try:
        if encoded.startswith("argon2"):
            return _is_verifiable_argon2(encoded)
        if match := _SCRYPT.match(encoded):
            log_n = int(match[2]).bit_length() - 1
            if log_n >= _MAX_LOG_N_PER_R * int(match[3]):
                return False
        cheap = encoded
        for costs, least in _CHEAPEST:
            cheap = costs.sub(rf"\g<1>{least}", cheap, count=1)
        identify_hasher(cheap).verify(_PASSWORD, cheap)
    except ValueError:
        return False
    return True


def _is_verifiable_argon2(encoded: str) -> bool:
    costs = _ARGON2.search(encoded)
    if costs is None:
        return False
    memory, passes, lanes = (int(number) for number in costs.groups())
    # RFC 9106 section 3.1: at least eight blocks of memory for each lane.
    least = _BLOCKS_PER_LANE * lanes
    if memory < least or not passes or not lanes:
        return False
    cheap = _ARGON2.sub(f"$m={least},t=1,p={lanes}$", encoded, count=1)
    try:
        PasswordHasher().verify(cheap.removeprefix("argon2"), _PASSWORD)
    except VerifyMismatchError:
        return True
    except Argon2Error:
        return False
    return True
