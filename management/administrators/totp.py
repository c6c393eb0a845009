"""Codes of authenticator applications: TOTP (RFC 6238) as they all have it, six digits every 30 seconds."""

import base64
import hmac
import os
import time
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

DIGITS: Final = 6
_STEP_SECONDS: Final = 30
_SECRET_BYTES: Final = 20  # RFC 4226 section 4
# A clock that is off by a step is forgiven (RFC 6238 section 5.2).
_DRIFT: Final = 1


def new_secret() -> bytes:
    """Return a secret to share with an application."""
    return os.urandom(_SECRET_BYTES)


def spelled(secret: bytes) -> str:
    """Return a secret as people type it: base32, in groups of four."""
    text = base64.b32encode(secret).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def address(secret: bytes, *, account: str, issuer: str) -> str:
    """Return the ``otpauth:`` address that applications read from a picture."""
    return _totp(secret).get_provisioning_uri(account, issuer)


def step_of(secret: bytes, code: str, *, after: int) -> int | None:
    """Return the time step that a code is of, near now and later than ``after``; none for a wrong code."""
    totp, now = _totp(secret), int(time.time()) // _STEP_SECONDS
    steps = [step for step in range(now - _DRIFT, now + _DRIFT + 1) if step > after]
    found = [
        step
        for step in steps
        if hmac.compare_digest(totp.generate(step * _STEP_SECONDS), code.encode(errors="replace"))
    ]
    return found[0] if found else None


def _totp(secret: bytes) -> TOTP:
    # RFC 6238 names SHA-1 as the default, and few applications know another: as an HMAC it is sound.
    return TOTP(secret, DIGITS, SHA1(), _STEP_SECONDS)  # noqa: S303
