"""Verifying passwords as other systems hashed them, until their first sign-in here.

Nothing is hashed with these. ``imported_hashes`` bounds what they may cost before a hash is stored.
"""

import base64
import hashlib
import secrets
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

import bcrypt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from django.contrib.auth.hashers import BasePasswordHasher, BCryptPasswordHasher

_BCRYPT_READS: Final = 72  # bytes


class Bcrypt(BCryptPasswordHasher):
    """bcrypt, which has never looked at more than 72 bytes; the library refuses longer passwords."""

    def encode(self, password: str, salt: bytes) -> str:  # type: ignore[override]
        """Hash what bcrypt reads of a password."""
        hashed = bcrypt.hashpw(password.encode()[:_BCRYPT_READS], salt)
        return f"{self.algorithm}${hashed.decode('ascii')}"


class _Foreign(BasePasswordHasher, ABC):
    """``algorithm$parameter$…$salt$checksum``, the last two in base64: salts are bytes elsewhere."""

    parameters: ClassVar[int]

    def decode(self, encoded: str) -> dict[str, Any]:
        """Take the text apart."""
        algorithm, *parameters, salt, checksum = encoded.split("$")
        if algorithm != self.algorithm or len(parameters) != self.parameters:
            raise ValueError("not of this algorithm")
        return {
            "algorithm": algorithm,
            "parameters": parameters,
            "salt": base64.b64decode(salt),
            "checksum": base64.b64decode(checksum),
        }

    def verify(self, password: str, encoded: str) -> bool:
        """Tell whether the password is right; the comparison takes the same time either way."""
        parts = self.decode(encoded)
        computed = self.computed(
            password.encode(), parts["salt"], parts["parameters"], len(parts["checksum"])
        )
        return secrets.compare_digest(computed, parts["checksum"])

    @abstractmethod
    def computed(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Return the checksum that the password leads to."""

    def encode(self, password: str, salt: str) -> str:
        """Refuse.

        Raises:
            TypeError: always.

        """
        raise TypeError(f"{self.algorithm} hashes are verified, never made: new hashes are Argon2id")

    def safe_summary(self, encoded: str) -> dict[Any, Any]:
        """Say what may be shown of a hash."""
        return {"algorithm": self.algorithm}

    def must_update(self, encoded: str) -> bool:
        """Have it replaced at the first sign-in."""
        return True

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Do nothing: it is never the preferred algorithm."""


class Pbkdf2(_Foreign):
    """PBKDF2 with a salt of bytes: digest, iterations."""

    algorithm = "pbkdf2_bytes"
    parameters = 2

    def computed(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Derive as many bytes as the checksum has (RFC 8018 section 5.2)."""
        digest, iterations = parameters
        return hashlib.pbkdf2_hmac(digest, password, salt, int(iterations), size)


class Scrypt(_Foreign):
    """scrypt with a salt of bytes: N, r, p."""

    algorithm = "scrypt_bytes"
    parameters = 3

    def computed(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Derive as many bytes as the checksum has (RFC 7914)."""
        n, r, p = (int(text) for text in parameters)
        return _scrypt(password, salt, n, r, p, size)


class FirebaseScrypt(_Foreign):
    """Firebase's scrypt: N, r. The checksum is the key stream that encrypts the project's signer key.

    Firebase stores the signer key encrypted with what scrypt derives (AES-256 in counter mode). A key
    stream is what both have in common, so the signer key itself does not have to be kept.
    """

    algorithm = "firebase_scrypt"
    parameters = 2

    def computed(self, password: bytes, salt: bytes, parameters: list[str], size: int) -> bytes:
        """Return the key stream that the derived key makes."""
        n, r = (int(text) for text in parameters)
        key = _scrypt(password, salt, n, r, 1, 32)
        # A counter that begins at zero is Firebase's choice; the key is another one for each salt.
        stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        return stream.update(bytes(size)) + stream.finalize()


def _scrypt(password: bytes, salt: bytes, n: int, r: int, p: int, size: int) -> bytes:  # noqa: PLR0913, PLR0917
    # OpenSSL refuses more than 32 MiB unless it is told how much there will be (RFC 7914 section 2).
    memory = 128 * r * (n + p + 2) + 1024 * 1024
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=size)
