"""The installation's keys (``ENCRYPTION_KEYS``): encryption at rest, MACs and keyed hashes.

New values use the first key. All keys decrypt and verify, so an operator can add a key in front and later
remove the last one. Every value names its key by id. Each purpose has its own subkey (HKDF, RFC 5869).
"""

import base64
import hmac
import os
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12


class UnknownKey(Exception):
    """A value names a key that was removed, or the value was altered."""


def current_id() -> str:
    """Return the id of the first key, which new values use."""
    return next(iter(settings.ENCRYPTION_KEYS))


def ids() -> tuple[str, ...]:
    """Return the ids of all keys."""
    return tuple(settings.ENCRYPTION_KEYS)


def subkey(purpose: str, key_id: str) -> bytes:
    """Return the 32 bytes that one purpose uses, derived from a key.

    Raises:
        UnknownKey: no key has this id.

    """
    try:
        master = settings.ENCRYPTION_KEYS[key_id]
    except KeyError:
        raise UnknownKey(key_id) from None
    return _derive(master, purpose)


@lru_cache(maxsize=64)
def _derive(master: bytes, purpose: str) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"gatehouse {purpose}".encode()).derive(master)


def encrypt(plaintext: bytes, *, purpose: str, bound_to: str) -> str:
    """Encrypt and authenticate (AES-256-GCM). Decryption needs the same purpose and ``bound_to``."""
    key_id = current_id()
    nonce = os.urandom(_NONCE_BYTES)
    ciphertext = AESGCM(subkey(purpose, key_id)).encrypt(nonce, plaintext, bound_to.encode())
    return f"{key_id}.{base64.urlsafe_b64encode(nonce + ciphertext).decode()}"


def decrypt(encrypted: str, *, purpose: str, bound_to: str) -> bytes:
    """Decrypt a value of ``encrypt``.

    Raises:
        UnknownKey: the key was removed, ``purpose`` or ``bound_to`` differ, or the value was altered.

    """
    key_id, _, text = encrypted.partition(".")
    try:
        raw = base64.urlsafe_b64decode(text)
        return AESGCM(subkey(purpose, key_id)).decrypt(
            raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], bound_to.encode()
        )
    except (InvalidTag, ValueError):
        raise UnknownKey(key_id) from None


def mac(message: str, *, purpose: str, key_id: str) -> bytes:
    """Return the HMAC-SHA-256 of a message (32 bytes), with the purpose's subkey of a key.

    Raises:
        UnknownKey: no key has this id.

    """
    return hmac.digest(subkey(purpose, key_id), message.encode(), "sha256")


def digest(secret: str, *, purpose: str) -> str:
    """Return a keyed hash of a random secret. A fast hash is enough: a random secret cannot be guessed."""
    key_id = current_id()
    return f"{key_id}.{mac(secret, purpose=purpose, key_id=key_id).hex()}"


def is_current(stored: str) -> bool:
    """Return whether a stored value uses the first key."""
    return stored.partition(".")[0] == current_id()


def matches(secret: str, stored: str, *, purpose: str) -> bool:
    """Return in constant time whether a secret has this stored ``digest``."""
    key_id, _, expected = stored.partition(".")
    try:
        found = mac(secret, purpose=purpose, key_id=key_id).hex()
    except UnknownKey:
        return False
    return hmac.compare_digest(found, expected)
