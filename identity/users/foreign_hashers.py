"""Hashers that verify the hashes of other systems. The first sign-in replaces such a hash.

These hashers do not hash new passwords. ``imported_hashes`` limits the cost of a hash before it is stored.
"""

import base64
import hashlib
import secrets
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

import bcrypt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from django.contrib.auth.hashers import BasePasswordHasher, BCryptPasswordHasher

_BCRYPT_MAX_PASSWORD: Final = 72  # bytes


class Bcrypt(BCryptPasswordHasher):
    """bcrypt, which uses only the first 72 bytes of a password; the library refuses longer ones."""

    def encode(self, password: str, salt: bytes) -> str:  # type: ignore[override]
        """Hash the first 72 bytes of a password."""
        hashed = bcrypt.hashpw(password.encode()[:_BCRYPT_MAX_PASSWORD], salt)
        return f"{self.algorithm}${hashed.decode('ascii')}"


class _Foreign(BasePasswordHasher, ABC):
    """A hasher of the format ``algorithm$parameter$…$salt$checksum``, with salt and checksum in base64."""

    parameters: ClassVar[int]

    def decode(self, encoded: str) -> dict[str, Any]:
        """Return the parts of a stored hash."""
        algorithm, *parameters, salt, checksum = encoded.split("$")
        if algorithm != self.algorithm or len(parameters) != self.parameters:
            raise ValueError(f"not a hash of {self.algorithm}")
        return {
            "algorithm": algorithm,
            "parameters": parameters,
            "salt": base64.b64decode(salt),
            "checksum": base64.b64decode(checksum),
        }

    def verify(self, password: str, encoded: str) -> bool:
        """Return whether the password is right, with a comparison in constant time."""
        parts = self.decode(encoded)
        checksum = self.compute_checksum(
            password.encode(), parts["salt"], parts["parameters"], len(parts["checksum"])
        )
        return secrets.compare_digest(checksum, parts["checksum"])

    @abstractmethod
    def compute_checksum(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Return the checksum of the password, ``size`` bytes long."""

    def encode(self, password: str, salt: str) -> str:
        """Refuse to hash.

        Raises:
            TypeError: always.

        """
        raise TypeError(f"{self.algorithm} only verifies passwords: new hashes use Argon2id")

    def safe_summary(self, encoded: str) -> dict[Any, Any]:
        """Return the parts of a hash that are not secret."""
        return {"algorithm": self.algorithm}

    def must_update(self, encoded: str) -> bool:
        """Return true: the first sign-in replaces the hash."""
        return True

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Do nothing: this is never the preferred algorithm."""


class Pbkdf2(_Foreign):
    """PBKDF2 with a salt of bytes: digest, iterations."""

    algorithm = "pbkdf2_bytes"
    parameters = 2

    def compute_checksum(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Derive as many bytes as the checksum has (RFC 8018 section 5.2)."""
        digest, iterations = parameters
        return hashlib.pbkdf2_hmac(digest, password, salt, int(iterations), size)


class Scrypt(_Foreign):
    """scrypt with a salt of bytes: N, r, p."""

    algorithm = "scrypt_bytes"
    parameters = 3

    def compute_checksum(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Derive as many bytes as the checksum has (RFC 7914)."""
        n, r, p = (int(text) for text in parameters)
        return _scrypt(password, salt, n, r, p, size)


class FirebaseScrypt(_Foreign):
    """Firebase's scrypt: N, r. The checksum is the key stream that encrypts the project's signer key.

    Firebase encrypts the signer key with the key that scrypt derives (AES-256 in counter mode). The key
    stream alone is enough to verify a password, so the signer key is not stored.
    """

    algorithm = "firebase_scrypt"
    parameters = 2

    def compute_checksum(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Return the key stream of the derived key."""
        n, r = (int(text) for text in parameters)
        key = _scrypt(password, salt, n, r, 1, 32)
        # Firebase starts the counter at zero; each salt leads to another key.
        stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        return stream.update(bytes(size)) + stream.finalize()


def _scrypt(password: bytes, salt: bytes, n: int, r: int, p: int, size: int) -> bytes:  # noqa: PLR0913, PLR0917
    # OpenSSL refuses more than 32 MiB without ``maxmem`` (the memory is that of RFC 7914 section 2).
    memory = 128 * r * (n + p + 2) + 1024 * 1024
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=size)
