"""Challenges of WebAuthn that the server does not store.

A challenge is 16 random bytes, the time, the id of a key and a MAC over its purpose. So showing a page stores
nothing. The caller stores the hash of an accepted challenge, which makes the challenge single-use.
"""

import hashlib
import hmac
import secrets
import struct
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from identity.core import tenancy
from identity.encryption import keyring
from identity.factors.passkey_refusals import PasskeyRefused, Reason

SECONDS: Final = 600
_PURPOSE: Final = "webauthn challenges"
_RANDOM_BYTES: Final = 16
_MAX_CLOCK_DIFFERENCE: Final = 60  # seconds between the clocks of two nodes
_HEAD: Final = struct.Struct(f">{_RANDOM_BYTES}sQ8s")  # the id of a key has 8 characters
_MAC_BYTES: Final = 32


class Ceremony(StrEnum):
    """What a passkey is used for. A challenge of one ceremony is invalid in another one."""

    SIGN_IN = "sign_in"
    SECOND_FACTOR = "second_factor"
    SET_UP = "set_up"
    SET_UP_SECURITY_KEY = "set_up_security_key"
    CONFIRM = "confirm"

    @property
    def is_registration(self) -> bool:
        """Whether the ceremony creates a credential."""
        return self in {Ceremony.SET_UP, Ceremony.SET_UP_SECURITY_KEY}

    @property
    def requires_user_verification(self) -> bool:
        """Whether the authenticator must verify the user, by a PIN or a fingerprint for example."""
        return self in {Ceremony.SIGN_IN, Ceremony.SET_UP}


@dataclass(frozen=True, slots=True)
class Binding:
    """What a challenge is valid for. ``browser`` is a hash. ``user`` and ``session`` are empty if unknown."""

    ceremony: Ceremony
    browser: str
    user: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class AcceptedChallenge:
    """A challenge that is valid unless its hash was stored before."""

    hash: str
    expires_at: datetime


def new_challenge(binding: Binding) -> bytes:
    """Return a challenge for a ceremony in one browser and the active tenant."""
    key_id = keyring.current_id()
    head = _HEAD.pack(secrets.token_bytes(_RANDOM_BYTES), int(time.time()), key_id.encode())
    return head + _mac(head, key_id, binding)


def check(challenge: bytes, *bindings: Binding) -> AcceptedChallenge:
    """Check that a challenge was made here for one of the bindings, and within the last 10 minutes.

    Raises:
        PasskeyRefused: the challenge was not.

    """
    if len(challenge) != _HEAD.size + _MAC_BYTES:
        raise PasskeyRefused(Reason.CHALLENGE)
    head, mac = challenge[: _HEAD.size], challenge[_HEAD.size :]
    _, made_at, key_id = _HEAD.unpack(head)
    try:
        expected = [_mac(head, key_id.decode("ascii"), binding) for binding in bindings]
    except (keyring.UnknownKey, UnicodeDecodeError):
        raise PasskeyRefused(Reason.CHALLENGE) from None
    if not any(hmac.compare_digest(mac, one) for one in expected):
        raise PasskeyRefused(Reason.CHALLENGE)
    if not -_MAX_CLOCK_DIFFERENCE <= time.time() - made_at <= SECONDS:
        raise PasskeyRefused(Reason.CHALLENGE_EXPIRED)
    # The row outlives the challenge, even if the clock of another node is late.
    expires_at = datetime.fromtimestamp(made_at + SECONDS + 2 * _MAX_CLOCK_DIFFERENCE, UTC)
    return AcceptedChallenge(hashlib.sha256(challenge).hexdigest(), expires_at)


def _mac(head: bytes, key_id: str, binding: Binding) -> bytes:
    # No part contains a line break, so no other binding has the same message.
    parts = (
        head.hex(),
        tenancy.active_id(),
        binding.ceremony,
        binding.browser,
        binding.user,
        binding.session,
    )
    return keyring.mac("\n".join(parts), purpose=_PURPOSE, key_id=key_id)
