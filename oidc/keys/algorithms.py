"""How each algorithm makes keys, signs and verifies (RFC 7518 section 3, RFC 8037 section 3.1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from django.conf import settings

from identity.core.algorithms import Algorithm

_COORDINATE_BYTES: Final = 32
_ECDSA: Final = ec.ECDSA(SHA256())
_PKCS1: Final = padding.PKCS1v15()
# RFC 7518 section 3.5: the salt is as long as the hash.
_PSS: Final = padding.PSS(mgf=padding.MGF1(SHA256()), salt_length=SHA256.digest_size)


@dataclass(frozen=True, slots=True)
class Signer:
    """What an algorithm does with its keys.

    ``members`` are those of its public key in a key set. ``hash_name`` is the hash of ``at_hash``.
    ``verify`` raises ``InvalidSignature``.
    """

    key_type: type
    members: tuple[str, ...]
    generate: Callable[[], Any]
    sign: Callable[[Any, bytes], bytes]
    verify: Callable[[Any, bytes, bytes], None]
    hash_name: str = "sha256"


def _generate_ec() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _sign_es256(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(data, _ECDSA))
    return r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")


def _verify_es256(key: ec.EllipticCurvePublicKey, signature: bytes, data: bytes) -> None:
    if len(signature) != 2 * _COORDINATE_BYTES:
        raise InvalidSignature
    r = int.from_bytes(signature[:_COORDINATE_BYTES], "big")
    s = int.from_bytes(signature[_COORDINATE_BYTES:], "big")
    key.verify(encode_dss_signature(r, s), data, _ECDSA)


def _generate_rsa() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=settings.RSA_KEY_BITS)


def _sign_rs256(key: rsa.RSAPrivateKey, data: bytes) -> bytes:
    return key.sign(data, _PKCS1, SHA256())


def _verify_rs256(key: rsa.RSAPublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data, _PKCS1, SHA256())


def _sign_ps256(key: rsa.RSAPrivateKey, data: bytes) -> bytes:
    return key.sign(data, _PSS, SHA256())


def _verify_ps256(key: rsa.RSAPublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data, _PSS, SHA256())


def _sign_eddsa(key: ed25519.Ed25519PrivateKey, data: bytes) -> bytes:
    return key.sign(data)


def _verify_eddsa(key: ed25519.Ed25519PublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data)


SIGNERS: Final[Mapping[str, Signer]] = MappingProxyType(
    {
        Algorithm.ES256.value: Signer(
            ec.EllipticCurvePrivateKey, ("kty", "crv", "x", "y"), _generate_ec, _sign_es256, _verify_es256
        ),
        Algorithm.RS256.value: Signer(
            rsa.RSAPrivateKey, ("kty", "n", "e"), _generate_rsa, _sign_rs256, _verify_rs256
        ),
        Algorithm.PS256.value: Signer(
            rsa.RSAPrivateKey, ("kty", "n", "e"), _generate_rsa, _sign_ps256, _verify_ps256
        ),
        # Ed25519 hashes with SHA-512 (RFC 8032 section 5.1).
        Algorithm.EDDSA.value: Signer(
            ed25519.Ed25519PrivateKey,
            ("kty", "crv", "x"),
            ed25519.Ed25519PrivateKey.generate,
            _sign_eddsa,
            _verify_eddsa,
            hash_name="sha512",
        ),
    }
)
