"""The bytes of WebAuthn: authenticator data, attestation objects, public keys and signatures.

No other module imports the library, which parses and verifies signatures. This module checks the bytes before
the library reads them.
"""

import struct
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from fido2 import cbor
from fido2.cose import CoseKey

from identity.factors import public_keys, strict_cbor
from identity.factors.passkey_refusals import PasskeyRefused, Reason

ALGORITHMS: Final = (-8, -7, -257)  # EdDSA, ES256, RS256
_HEAD: Final = struct.Struct(">32sBI")
_CREDENTIAL_HEAD: Final = struct.Struct(">16sH")


class Flag(IntFlag):
    """The flags of authenticator data (WebAuthn Level 3, section 6.1)."""

    USER_PRESENT = 0x01
    RESERVED_1 = 0x02
    USER_VERIFIED = 0x04
    BACKUP_ELIGIBLE = 0x08
    BACKED_UP = 0x10
    RESERVED_2 = 0x20
    HAS_CREDENTIAL = 0x40
    HAS_EXTENSIONS = 0x80


RESERVED: Final = Flag.RESERVED_1 | Flag.RESERVED_2


@dataclass(frozen=True, slots=True)
class AttestedCredential:
    """A new credential, with its public key as COSE bytes."""

    aaguid: UUID | None
    id: bytes
    public_key: bytes


@dataclass(frozen=True, slots=True)
class AuthenticatorData:
    """What the authenticator says about a ceremony."""

    rp_id_hash: bytes
    flags: Flag
    counter: int
    credential: AttestedCredential | None


def read_attestation_object(data: bytes) -> tuple[str, bytes]:
    """Return the format of an attestation, and the authenticator data. The statement is ignored.

    Raises:
        PasskeyRefused: the bytes are not an attestation object.

    """
    _check_cbor(data)
    document = cbor.decode(data)
    if not isinstance(document, dict):
        raise PasskeyRefused(Reason.MALFORMED)
    kind, authenticator_data = document.get("fmt"), document.get("authData")
    if not isinstance(kind, str) or not isinstance(authenticator_data, bytes) or "attStmt" not in document:
        raise PasskeyRefused(Reason.MALFORMED)
    return kind, authenticator_data


def read_authenticator_data(data: bytes) -> AuthenticatorData:
    """Return the parts of authenticator data.

    Raises:
        PasskeyRefused: the data is incomplete, or bytes follow it.

    """
    try:
        rp_id_hash, bits, counter = _HEAD.unpack_from(data)
        flags, at = Flag(bits), _HEAD.size
        credential = None
        if flags & Flag.HAS_CREDENTIAL:
            credential, at = _read_credential(data, at)
        if flags & Flag.HAS_EXTENSIONS:
            at = strict_cbor.find_end(data, at)
    except (struct.error, strict_cbor.NotStrict):
        raise PasskeyRefused(Reason.MALFORMED) from None
    if at != len(data):
        raise PasskeyRefused(Reason.MALFORMED)
    return AuthenticatorData(rp_id_hash, flags, counter, credential)


def _read_credential(data: bytes, at: int) -> tuple[AttestedCredential, int]:
    aaguid, length = _CREDENTIAL_HEAD.unpack_from(data, at)
    start = at + _CREDENTIAL_HEAD.size
    key_start = start + length
    end = strict_cbor.find_end(data, key_start)
    known = UUID(bytes=aaguid) if any(aaguid) else None
    return AttestedCredential(known, data[start:key_start], data[key_start:end]), end


def check_public_key(cose: bytes) -> int:
    """Check that a new public key is supported and strong enough, and return its algorithm.

    Raises:
        PasskeyRefused: the key is not.

    """
    key = _read_key(cose)
    algorithm = key.get(3)
    if type(algorithm) is not int or algorithm not in ALGORITHMS:
        raise PasskeyRefused(Reason.ALGORITHM)
    if not public_keys.is_acceptable(algorithm, key):
        raise PasskeyRefused(Reason.KEY)
    return algorithm


def verify_signature(cose: bytes, message: bytes, signature: bytes) -> None:
    """Verify a signature with a stored public key.

    Raises:
        PasskeyRefused: the signature is wrong.

    """
    key = CoseKey.parse(_read_key(cose))
    try:
        key.verify(message, signature)
    except Exception:  # noqa: BLE001 - a key or a signature that the library cannot use is as wrong as any
        raise PasskeyRefused(Reason.SIGNATURE) from None


def is_usable_rp_id(rp_id: str, origin: str) -> bool:
    """Return whether browsers let pages of this host use the id.

    Browsers refuse a public suffix, such as ``co.uk``. The scheme of the origin does not matter.
    """
    from fido2.rpid import verify_rp_id  # noqa: PLC0415 - it reads a long list, which only the doctor needs

    return bool(verify_rp_id(rp_id, f"https://{urlsplit(origin).netloc}"))


def _read_key(cose: bytes) -> dict[Any, Any]:
    _check_cbor(cose)
    key = cbor.decode(cose)
    if not isinstance(key, dict):
        raise PasskeyRefused(Reason.MALFORMED)
    return key


def _check_cbor(data: bytes) -> None:
    try:
        strict_cbor.check(data)
    except strict_cbor.NotStrict:
        raise PasskeyRefused(Reason.MALFORMED) from None
