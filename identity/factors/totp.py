"""TOTP (RFC 6238) with the parameters that all authenticators support: six digits, 30 seconds, SHA-1."""

import base64
import hmac
import os
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

DIGITS: Final = 6
_STEP_SECONDS: Final = 30
_SECRET_BYTES: Final = 20  # RFC 4226 section 4
# Steps by which a clock may be off (RFC 6238 section 5.2).
_DRIFT: Final = 1


def new_secret() -> bytes:
    """Return a secret to share with an authenticator."""
    return os.urandom(_SECRET_BYTES)


def format_secret(secret: bytes) -> str:
    """Return a secret for typing: base32, in groups of four."""
    text = base64.b32encode(secret).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def provisioning_uri(secret: bytes, *, account: str, issuer: str) -> str:
    """Return the ``otpauth:`` URI that authenticators read from a QR code."""
    return _totp(secret).get_provisioning_uri(account, issuer)


def find_step(secret: bytes, code: str, *, after: int, now: float) -> int | None:
    """Return the time step of a code, or None if no step near now and later than ``after`` has this code.

    ``now`` is in seconds since the epoch.
    """
    totp, current = _totp(secret), int(now) // _STEP_SECONDS
    steps = [step for step in range(current - _DRIFT, current + _DRIFT + 1) if step > after]
    found = [
        step
        for step in steps
        if hmac.compare_digest(totp.generate(step * _STEP_SECONDS), code.encode(errors="replace"))
    ]
    return found[0] if found else None


def _totp(secret: bytes) -> TOTP:
    # RFC 6238's default, and the only hash that most authenticators support. SHA-1 is secure in an HMAC.
    # Secrets of other systems may have 80 bits, fewer than the package accepts by default.
    return TOTP(secret, DIGITS, SHA1(), _STEP_SECONDS, enforce_key_length=False)  # noqa: S303
