"""The ring of installation keys (``ENCRYPTION_KEYS``): encryption at rest, MACs and keyed hashes.

The first key of the ring is used for new values, all of them for old ones, so that an
operator adds a key in front and later drops the last. Every value names its key by id.
Keys never serve two purposes: each purpose has a subkey of its own (HKDF, RFC 5869).
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
    """A value names a key that is no longer in the ring, or was altered."""


def current() -> str:
    """Return the id of the key that new values are made with."""
    return next(iter(settings.ENCRYPTION_KEYS))


def ids() -> tuple[str, ...]:
    """Return the ids of all keys of the ring."""
    return tuple(settings.ENCRYPTION_KEYS)


def subkey(purpose: str, of: str) -> bytes:
    """Derive the 32 bytes that one purpose may use.

    Raises:
        UnknownKey: the ring holds no key of that id.

    """
    try:
        master = settings.ENCRYPTION_KEYS[of]
    except KeyError:
        raise UnknownKey(of) from None
    return _derive(master, purpose)


@lru_cache(maxsize=64)
def _derive(master: bytes, purpose: str) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"gatehouse {purpose}".encode()).derive(master)


def encrypt(plaintext: bytes, *, purpose: str, bound_to: str) -> str:
    """Encrypt and authenticate (AES-256-GCM). It decrypts only with the same purpose and binding."""
    kid = current()
    nonce = os.urandom(_NONCE_BYTES)
    sealed = AESGCM(subkey(purpose, kid)).encrypt(nonce, plaintext, bound_to.encode())
    return f"{kid}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"


def decrypt(sealed: str, *, purpose: str, bound_to: str) -> bytes:
    """Decrypt what ``encrypt`` returned.

    Raises:
        UnknownKey: the key is gone, or the value belongs elsewhere or was altered.

    """
    kid, _, text = sealed.partition(".")
    try:
        raw = base64.urlsafe_b64decode(text)
        return AESGCM(subkey(purpose, kid)).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], bound_to.encode())
    except (InvalidTag, ValueError):
        raise UnknownKey(kid) from None


def mac(message: str, *, purpose: str, key: str) -> bytes:
    """Authenticate a message (HMAC-SHA-256, 32 bytes) with the key of that id.

    Raises:
        UnknownKey: the ring holds no key of that id.

    """
    return hmac.digest(subkey(purpose, key), message.encode(), "sha256")


def digest(secret: str, *, purpose: str) -> str:
    """Hash a random secret for storage. The hash is fast: a random secret cannot be guessed."""
    kid = current()
    return f"{kid}.{mac(secret, purpose=purpose, key=kid).hex()}"


def is_current(stored: str) -> bool:
    """Return whether a stored value was made with the key that new values are made with."""
    return stored.partition(".")[0] == current()


def matches(secret: str, stored: str, *, purpose: str) -> bool:
    """Return in constant time whether a secret is the one that was stored by ``digest``."""
    kid, _, expected = stored.partition(".")
    try:
        found = mac(secret, purpose=purpose, key=kid).hex()
    except UnknownKey:
        return False
    return hmac.compare_digest(found, expected)
