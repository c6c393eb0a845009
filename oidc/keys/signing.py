"""Signing and verifying with the tenant's keys: the only module that touches private keys.

Loaded keys are cached in the process by tenant and ``kid``, because a ``kid`` always means the same key.
Which key is active, and whether a key still exists, is read from the database each time, so that a
rotation or deletion on one worker takes effect on all workers at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from jwcrypto.jwk import JWK

from database import ids
from identity.core import tenancy
from identity.core.algorithms import Algorithm
from identity.encryption import keyring
from oidc.keys import jws
from oidc.keys.algorithms import SIGNERS
from oidc.keys.jws import InvalidToken, Parsed
from oidc.keys.models import SigningKey

PURPOSE: Final = "signing keys"


@dataclass(frozen=True, slots=True)
class LoadedKey:
    """A private or public key, and its algorithm."""

    algorithm: str
    key: Any


def generate(algorithm: str = Algorithm.ES256) -> SigningKey:
    """Return an unsaved new key of the active tenant, with the status ``next``.

    An RSA key takes up to half a second: generate it outside any transaction.
    """
    key = SigningKey(tenant_id=tenancy.active_id(), algorithm=algorithm)
    private = SIGNERS[algorithm].generate()
    key.public_jwk = JWK.from_pyca(private.public_key()).export_public(as_dict=True)
    der = private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    key.sealed_private_key = keyring.encrypt(
        der, purpose=PURPOSE, bound_to=_binding(tenancy.active_id(), key.pk)
    )
    return key


def can_decrypt(key: SigningKey) -> bool:
    """Return whether a key of ENCRYPTION_KEYS decrypts the private key."""
    try:
        _decrypt(key, str(key.tenant_id))
    except keyring.UnknownKey:
        return False
    return True


def load(key_id: UUID) -> None:
    """Load a key of the active tenant into the cache, so that signing with it cannot fail later.

    Raises:
        SigningKey.DoesNotExist: the tenant has no such key.

    """
    _private_key(tenancy.active_id(), key_id)


def get_algorithm(key_id: UUID) -> str:
    """Return the algorithm of a key of the active tenant.

    Raises:
        SigningKey.DoesNotExist: the tenant has no such key.

    """
    return _private_key(tenancy.active_id(), key_id).algorithm


def sign(claims: dict[str, Any], *, typ: str, key_id: UUID) -> str:
    """Return the claims as a JWT of that type, signed by that key of the active tenant.

    Raises:
        SigningKey.DoesNotExist: the tenant has no such key.

    """
    return sign_json(orjson.dumps(claims), typ=typ, key_id=key_id)


def sign_json(claims: bytes, *, typ: str, key_id: UUID) -> str:
    """Return what ``sign`` returns, for claims in JSON.

    Raises:
        SigningKey.DoesNotExist: the tenant has no such key.

    """
    loaded = _private_key(tenancy.active_id(), key_id)
    return jws.sign(claims, typ=typ, kid=str(key_id), algorithm=loaded.algorithm, key=loaded.key)


def verify(token: str, *, typ: str) -> Parsed:
    """Return the parts of a token of this type that a key of the active tenant signed.

    It checks no claim, and does **not** check that the key still exists, because keys and results are cached.
    Callers include ``SigningKey.objects.filter(pk=kid)`` in their next query.

    Raises:
        InvalidToken: no key of this tenant signed it, or it has another type.

    """
    try:
        parsed = _find_verified(tenancy.active_id(), token)
    except _Uncacheable as large:
        parsed = large.parsed
    if parsed.typ != typ:
        raise InvalidToken("another type of token")
    return parsed


class _Uncacheable(Exception):
    """A token with a valid signature that takes much memory."""

    def __init__(self, parsed: Parsed) -> None:
        super().__init__()
        self.parsed: Final = parsed


@lru_cache(maxsize=1024)
def _find_verified(tenant_id: str, token: str) -> Parsed:
    """Return a token with a valid signature. Valid results are cached; exceptions are not.

    Raises:
        InvalidToken: no key of this tenant signed it.
        _Uncacheable: it is valid, and too large for a cache.

    """
    parsed = _parse_and_verify(tenant_id, token)
    if not parsed.is_cacheable:
        raise _Uncacheable(parsed)
    return parsed


def _parse_and_verify(tenant_id: str, token: str) -> Parsed:
    parsed = jws.parse(token)
    kid = ids.parse(parsed.kid)
    if kid is None:
        raise InvalidToken("no such key")
    try:
        key = _public_key(tenant_id, kid)
    except SigningKey.DoesNotExist:
        raise InvalidToken("no such key") from None
    jws.verify(parsed, algorithm=key.algorithm, key=key.key)
    return parsed


@lru_cache(maxsize=4096)
def _public_key(tenant_id: str, key_id: UUID) -> LoadedKey:
    row = SigningKey.objects.only("algorithm", "public_jwk").get(tenant_id=tenant_id, pk=key_id)
    return LoadedKey(row.algorithm, JWK(**row.public_jwk).get_op_key("verify"))


@lru_cache(maxsize=16_384)  # at 2.5 KB each, and 7 KB for RSA
def _private_key(tenant_id: str, key_id: UUID) -> LoadedKey:
    row = SigningKey.objects.only("algorithm", "sealed_private_key").get(tenant_id=tenant_id, pk=key_id)
    return LoadedKey(row.algorithm, _decrypt(row, tenant_id))


def _decrypt(row: SigningKey, tenant_id: str) -> Any:
    binding = _binding(tenant_id, row.pk)
    der = keyring.decrypt(row.sealed_private_key, purpose=PURPOSE, bound_to=binding)
    key = load_der_private_key(der, password=None)
    assert isinstance(key, SIGNERS[row.algorithm].key_type)  # noqa: S101 - generate() makes no other
    return key


def _binding(tenant_id: str, key_id: UUID) -> str:
    return f"{tenant_id}/{key_id}"
