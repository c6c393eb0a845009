"""An authenticator and its browser in software: it creates passkeys and answers with them, right or wrong.

It speaks the JSON of ``PublicKeyCredential.toJSON()``. Each keyword of ``create`` and ``get`` changes one
fact, which a relying party may have to refuse.
"""

import base64
import hashlib
import json
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor
from fido2.cose import ES256, ES256K, RS256, CoseKey, EdDSA

UP, UV, BE, BS, AT, ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
KEYS: dict[int, Callable[[], Any]] = {
    -7: lambda: ec.generate_private_key(ec.SECP256R1()),
    -8: ed25519.Ed25519PrivateKey.generate,
    -257: cache(lambda: rsa.generate_private_key(65537, 2048)),  # slow to generate
    -47: lambda: ec.generate_private_key(ec.SECP256K1()),
}
COSE: dict[int, type[CoseKey]] = {-7: ES256, -8: EdDSA, -257: RS256, -47: ES256K}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def data_of(attestation_object: bytes) -> bytes:
    """The authenticator data in an attestation object."""
    document: Any = cbor.decode(attestation_object)
    return bytes(document["authData"])


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Key:
    """A credential in the device."""

    id: bytes
    rp_id: str
    user_handle: bytes
    private: Any
    algorithm: int
    is_discoverable: bool
    counter: int = 0

    def cose(self) -> dict[int, Any]:
        return dict(COSE[self.algorithm].from_cryptography_key(self.private.public_key()))

    def sign(self, message: bytes) -> bytes:
        if self.algorithm == -8:
            return bytes(self.private.sign(message))
        if self.algorithm == -257:
            return bytes(self.private.sign(message, padding.PKCS1v15(), hashes.SHA256()))
        return bytes(self.private.sign(message, ec.ECDSA(hashes.SHA256())))


@dataclass
class Device:
    """A device with its keys. ``step`` is what each use adds to a counter; 0 means that it has none."""

    origin: str
    verifies: bool = True
    flags: int = BE | BS
    step: int = 0
    aaguid: bytes = bytes(16)
    algorithm: int = -7
    id_length: int = 32
    keys: list[Key] = field(default_factory=list)

    def create(self, options: dict[str, Any], **wrong: Any) -> dict[str, Any]:
        """Answer ``navigator.credentials.create()``."""
        offered = [one["alg"] for one in options["pubKeyCredParams"]]
        algorithm = wrong.get("algorithm", self.algorithm if self.algorithm in offered else offered[0])
        selection = options["authenticatorSelection"]
        key = Key(
            id=wrong.get("credential_id", secrets.token_bytes(self.id_length)),
            rp_id=options["rp"]["id"],
            user_handle=decode(options["user"]["id"]),
            private=wrong["private"] if "private" in wrong else KEYS[algorithm](),
            algorithm=algorithm,
            is_discoverable=selection["residentKey"] != "discouraged",
        )
        self.keys.append(key)
        public = wrong.get("public_key", cbor.encode(wrong.get("cose", key.cose())))
        attested = self.aaguid + struct.pack(">H", len(key.id)) + key.id + public
        data = self._data(key, AT, attested, wrong)
        attestation = {"fmt": "none", "attStmt": {}, "authData": data} | wrong.get("attestation", {})
        document = self._envelope(wrong.get("id", key.id), wrong)
        document["response"] = {
            "clientDataJSON": self._client_data("webauthn.create", options, wrong),
            "attestationObject": encode(wrong.get("attestation_object", cbor.encode(attestation))),
            "transports": wrong.get("transports", ["internal", "hybrid"]),
        }
        told = {"credProps": {"rk": key.is_discoverable}}
        document["clientExtensionResults"] = wrong.get("extension_results", told)
        return document

    def get(self, options: dict[str, Any], key: Key | None = None, **wrong: Any) -> dict[str, Any]:
        """Answer ``navigator.credentials.get()`` with a key, or with the one that fits the options."""
        key = key or self.find(options)
        key.counter += self.step
        data = self._data(key, 0, b"", wrong)
        client_data = self._client_data("webauthn.get", options, wrong)
        signature = key.sign(data + hashlib.sha256(decode(client_data)).digest())
        has_handle = key.is_discoverable or not options.get("allowCredentials")
        handle = wrong.get("user_handle", key.user_handle if has_handle else None)
        document = self._envelope(wrong.get("id", key.id), wrong)
        document["response"] = {
            "clientDataJSON": client_data,
            "authenticatorData": encode(data),
            "signature": encode(wrong.get("signature", signature)),
            "userHandle": None if handle is None else encode(handle),
        }
        return document

    def find(self, options: dict[str, Any]) -> Key:
        """Return the newest key that the options allow."""
        allowed = {one["id"] for one in options.get("allowCredentials", [])}
        fitting = [
            key
            for key in self.keys
            if key.rp_id == options["rpId"]
            and (encode(key.id) in allowed if allowed else key.is_discoverable)
        ]
        return fitting[-1]

    def _data(self, key: Key, extra: int, attested: bytes, wrong: dict[str, Any]) -> bytes:
        flags = wrong.get("flags", UP | (UV if self.verifies else 0) | self.flags | extra)
        rp_id_hash = hashlib.sha256(wrong.get("rp_id", key.rp_id).encode()).digest()
        counter = wrong.get("counter", key.counter)
        return bytes(rp_id_hash + struct.pack(">BI", flags, counter) + attested + wrong.get("trailing", b""))

    def _client_data(self, kind: str, options: dict[str, Any], wrong: dict[str, Any]) -> str:
        document = {
            "type": wrong.get("type", kind),
            "challenge": wrong.get("challenge", options["challenge"]),
            "origin": wrong.get("origin", self.origin),
            "crossOrigin": wrong.get("cross_origin", False),
        } | wrong.get("client_data", {})
        return encode(wrong.get("client_data_json", json.dumps(document).encode()))

    def _envelope(self, credential_id: bytes, wrong: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": encode(credential_id),
            "rawId": encode(wrong.get("raw_id", credential_id)),
            "type": wrong.get("credential_type", "public-key"),
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
        }
