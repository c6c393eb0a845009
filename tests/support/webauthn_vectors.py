"""The test vectors of WebAuthn Level 3, "Test Vectors", derived as the standard describes.

Every value comes from HKDF-SHA-256 with the text "WebAuthn test vectors", a salt that counts, and the name of
the vector. Signatures are deterministic (RFC 6979). ``PUBLISHED`` has signatures that the standard prints, so
that a mistake here cannot go unnoticed. Attestation statements are left empty: Gatehouse ignores them.
"""

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import Any, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from fido2 import cbor
from fido2.cose import ES256, ES384, RS256, CoseKey, EdDSA

from tests.support.passkey_device import encode

RP_ID: Final = "example.org"
ORIGIN: Final = "https://example.org"
_TOP_ORIGIN: Final = "https://example.com"
_EXTRA: Final = "clientDataJSON may be extended with additional fields in the future, such as this: "


@dataclass(frozen=True)
class Vector:
    """A registration, and an assertion with the new credential."""

    name: str
    credential_id: bytes
    creation: dict[str, bytes]
    request: dict[str, bytes]

    def registration(self) -> dict[str, Any]:
        fields = ("clientDataJSON", "attestationObject")
        return self._document({name: encode(self.creation[name]) for name in fields})

    def assertion(self) -> dict[str, Any]:
        fields = ("clientDataJSON", "authenticatorData", "signature")
        return self._document({name: encode(self.request[name]) for name in fields})

    def _document(self, response: dict[str, Any]) -> dict[str, Any]:
        credential_id = encode(self.credential_id)
        document = {"id": credential_id, "rawId": credential_id, "type": "public-key"}
        return document | {"response": response, "clientExtensionResults": {}}


class _Values:
    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0

    def __call__(self, length: int) -> bytes:
        salt = bytes([self._count])
        self._count += 1
        kdf = HKDF(hashes.SHA256(), length, salt=salt, info=self._name.encode())
        return kdf.derive(b"WebAuthn test vectors")


_COSE: Final[dict[str, type[CoseKey]]] = {
    "ES256": ES256,
    "ES384": ES384,
    "RS256": RS256,
    "EdDSA": EdDSA,
}


class _Key:
    def __init__(self, kind: str, values: _Values) -> None:
        self.kind = kind
        if kind == "RS256":
            p, q, e = 2**1279 - 1, 2**2203 - 1, 65537
            d = pow(e, -1, (p - 1) * (q - 1))
            numbers = rsa.RSAPublicNumbers(e, p * q)
            self.private: Any = rsa.RSAPrivateNumbers(
                p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), numbers
            ).private_key()
        elif kind == "EdDSA":
            self.private = ed25519.Ed25519PrivateKey.from_private_bytes(values(32))
        else:
            curve, length = {"ES256": (ec.SECP256R1(), 32), "ES384": (ec.SECP384R1(), 48)}[kind]
            self.private = ec.derive_private_key(int.from_bytes(values(length)), curve)

    def cose(self) -> bytes:
        return cbor.encode(_COSE[self.kind].from_cryptography_key(self.private.public_key()))

    def sign(self, message: bytes) -> bytes:
        if self.kind == "EdDSA":
            return bytes(self.private.sign(message))
        if self.kind == "RS256":
            return bytes(self.private.sign(message, padding.PKCS1v15(), hashes.SHA256()))
        digest = hashes.SHA384() if self.kind == "ES384" else hashes.SHA256()
        return bytes(self.private.sign(message, ec.ECDSA(digest, deterministic_signing=True)))


def derive(name: str, kind: str, *, members: dict[str, Any] | None = None, id_length: int = 32) -> Vector:
    """Derive a vector by its name in the standard."""
    values = _Values(name)
    members = members or {"crossOrigin": False}
    challenge = values(32)
    key = _Key(kind, values)
    created = _client_data("webauthn.create", challenge, members, values)
    aaguid, credential_id = values(16), values(id_length)
    bits = values(1)[0]
    if name.startswith("packed."):
        values(32), values(16)  # the key and the serial number of the attestation certificate
    eligible = bits & 0x08
    flags = 0x41 | bits & 0x0C | (bits & 0x10 if eligible else 0)
    attested = aaguid + struct.pack(">H", len(credential_id)) + credential_id + key.cose()
    rp_id_hash = hashlib.sha256(RP_ID.encode()).digest()
    data = rp_id_hash + struct.pack(">BI", flags, 0) + attested
    statement = {"fmt": name.partition(".")[0], "attStmt": {}, "authData": data}
    asked = values(32)
    got = _client_data("webauthn.get", asked, members, values)
    bits = values(1)[0]
    flags = 0x01 | bits & 0x04 | eligible | (bits & 0x10 if eligible else 0)
    proof = rp_id_hash + struct.pack(">BI", flags, 0)
    return Vector(
        name,
        credential_id,
        {"challenge": challenge, "clientDataJSON": created, "attestationObject": cbor.encode(statement)},
        {
            "challenge": asked,
            "clientDataJSON": got,
            "authenticatorData": proof,
            "signature": key.sign(proof + hashlib.sha256(got).digest()),
        },
    )


def _client_data(kind: str, challenge: bytes, members: dict[str, Any], values: _Values) -> bytes:
    document = {"type": kind, "challenge": encode(challenge), "origin": ORIGIN} | members
    if values(1)[0] & 1:
        document["extraData"] = _EXTRA + encode(values(16))
    return json.dumps(document, separators=(",", ":")).encode()


ACCEPTED: Final = [
    derive("none.ES256", "ES256"),
    derive("packed-self.ES256", "ES256"),
    derive("none.ES256.long-credential-id", "ES256", id_length=1_023),
    derive("packed.ES256", "ES256"),
    derive("packed.RS256", "RS256"),
    derive("packed.EdDSA", "EdDSA"),
]
FRAMED: Final = [
    derive("none.ES256.crossOrigin", "ES256", members={"crossOrigin": True}),
    derive("none.ES256.topOrigin", "ES256", members={"crossOrigin": True, "topOrigin": _TOP_ORIGIN}),
]
UNSUPPORTED: Final = [derive("packed.ES384", "ES384")]

PUBLISHED: Final = {
    "none.ES256": (
        "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b"
        "93538174f575bf11a1dd5d78c6e486013f937295ea13653e331e87"
    ),
    "packed-self.ES256": (
        "304402203310b9431903c401f1be2bdc8d23a4007682dbbddcf846994947b7f465daf84002204e94dd00047b31"
        "6061b3b99772b7efd95994a83ef584b3b6b825ea3550251b66"
    ),
    "none.ES256.crossOrigin": (
        "3046022100eb12fcf23b12764c0f122e22371fab92e283879fd798f38ee1841c951b6e40e7022100c76237ff9d"
        "b77b3c56f30837cda6a09acfa2e915544e609c0733b1184036d1cf"
    ),
    "none.ES256.topOrigin": (
        "3045022100b5a70c81780d5fcc9a4f2ae9caae99058f8accaf58b91fb59329646c28ac6ffc022012e101c165db"
        "3c8e9957f0c54dd6ca9b56bc3bd2f280bd2faa6c1d02c6e5c171"
    ),
    "packed.ES256": (
        "30450220694969d3ee928de6f02ef23a9c644d7d779916451734a94b432542f498a1ebe90221008b0819c82421"
        "8a97152cd099c55bfb1477b29d900a49a64018314f9bfccda163"
    ),
    "packed.EdDSA": (
        "f5c59c7e46c34f6f8cc197101ddf9934fa2595f68eb1913a637e8419eb9ba4cfdfc48f85393bc0d40b011f0d6f"
        "ecb097d6607525713223a0dc0d453993dae00b"
    ),
}
# The first bytes are enough: an RSA signature of another message shares none.
PUBLISHED_START: Final = {"packed.RS256": "01063d52d7c39b4d432fc7063c5d93e582bdcb16889cd71f888d67d880ea730a"}
