"""The JSON of a credential, as ``PublicKeyCredential.toJSON()`` of browsers writes it.

Only the members that the ceremonies need are read. Unknown members are ignored, because browsers add some.
"""

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from identity.factors.passkey_refusals import PasskeyRefused, Reason

MAX_BYTES: Final = 64 * 1024
MAX_CREDENTIAL_ID: Final = 1_023  # bytes; WebAuthn Level 3, section 7.1, step 25
MAX_ID_TEXT: Final = 1_400
_MAX_CLIENT_DATA: Final = 8 * 1024
_MAX_AUTHENTICATOR_DATA: Final = 8 * 1024
_MAX_SIGNATURE: Final = 2 * 1024
_MAX_USER_HANDLE: Final = 64
_MAX_TRANSPORTS: Final = 10
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]*")
_TRANSPORT: Final = re.compile(r"[a-z0-9-]{1,32}")


@dataclass(frozen=True, slots=True)
class ClientData:
    """What the browser says about the ceremony. The signature covers the hash of ``raw``."""

    raw: bytes
    type: str
    challenge: bytes
    origin: str
    is_cross_origin: bool


@dataclass(frozen=True, slots=True)
class Registration:
    """The answer of ``navigator.credentials.create()``."""

    id: str
    raw_id: str
    client_data: ClientData
    attestation_object: bytes
    transports: tuple[str, ...]
    is_discoverable: bool | None


@dataclass(frozen=True, slots=True)
class Assertion:
    """The answer of ``navigator.credentials.get()``."""

    id: str
    raw_id: str
    client_data: ClientData
    authenticator_data: bytes
    signature: bytes
    user_handle: bytes | None


def read_registration(document: object) -> Registration:
    """Return the answer of ``create()``.

    Raises:
        PasskeyRefused: the document is too large, or does not have the shape of the standard.

    """
    members, response = _read_envelope(document)
    return Registration(
        id=_read_id(members, "id"),
        raw_id=_read_id(members, "rawId"),
        client_data=_read_client_data(response),
        attestation_object=_read_bytes(response, "attestationObject", MAX_BYTES),
        transports=_read_transports(response),
        is_discoverable=_read_discoverable(members),
    )


def read_assertion(document: object) -> Assertion:
    """Return the answer of ``get()``.

    Raises:
        PasskeyRefused: the document is too large, or does not have the shape of the standard.

    """
    members, response = _read_envelope(document)
    has_handle = response.get("userHandle") is not None
    return Assertion(
        id=_read_id(members, "id"),
        raw_id=_read_id(members, "rawId"),
        client_data=_read_client_data(response),
        authenticator_data=_read_bytes(response, "authenticatorData", _MAX_AUTHENTICATOR_DATA),
        signature=_read_bytes(response, "signature", _MAX_SIGNATURE),
        user_handle=_read_bytes(response, "userHandle", _MAX_USER_HANDLE) if has_handle else None,
    )


def decode(text: object) -> bytes:
    """Decode base64url without padding. Only one text is accepted for each value.

    Raises:
        PasskeyRefused: the text is something else.

    """
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        raise PasskeyRefused(Reason.JSON)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise PasskeyRefused(Reason.JSON)
    return data


def encode(data: bytes) -> str:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _read_envelope(document: object) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(document, dict):
        raise PasskeyRefused(Reason.JSON)
    try:
        size = len(orjson.dumps(document))
    except (TypeError, ValueError):  # too deep, or text that is not Unicode
        raise PasskeyRefused(Reason.JSON) from None
    if size > MAX_BYTES:
        raise PasskeyRefused(Reason.SIZE)
    response = document.get("response")
    if not isinstance(response, dict):
        raise PasskeyRefused(Reason.JSON)
    if document.get("type") != "public-key":
        raise PasskeyRefused(Reason.TYPE)
    return document, response


def _read_id(members: dict[str, Any], name: str) -> str:
    text = members.get(name)
    if not decode(text) or not isinstance(text, str):
        raise PasskeyRefused(Reason.JSON)
    if len(text) > MAX_ID_TEXT:
        raise PasskeyRefused(Reason.CREDENTIAL_LENGTH)
    return text


def _read_bytes(response: dict[str, Any], name: str, most: int) -> bytes:
    data = decode(response.get(name))
    if len(data) > most:
        raise PasskeyRefused(Reason.SIZE)
    return data


def _read_client_data(response: dict[str, Any]) -> ClientData:
    raw = _read_bytes(response, "clientDataJSON", _MAX_CLIENT_DATA)
    try:
        document = json.loads(raw.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise PasskeyRefused(Reason.JSON) from None
    if not isinstance(document, dict):
        raise PasskeyRefused(Reason.JSON)
    kind, origin = document.get("type"), document.get("origin")
    is_cross_origin = document.get("crossOrigin", False)
    if not isinstance(kind, str) or not isinstance(origin, str) or not isinstance(is_cross_origin, bool):
        raise PasskeyRefused(Reason.JSON)
    return ClientData(
        raw, kind, decode(document.get("challenge")), origin, is_cross_origin or "topOrigin" in document
    )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs more than once")
    return members


def _read_transports(response: dict[str, Any]) -> tuple[str, ...]:
    """Return the transports, also unknown ones: they are only sent back as a hint."""
    transports = response.get("transports")
    if not isinstance(transports, list):
        return ()
    known = (text for text in transports if isinstance(text, str) and _TRANSPORT.fullmatch(text))
    return tuple(sorted(set(known)))[:_MAX_TRANSPORTS]


def _read_discoverable(members: dict[str, Any]) -> bool | None:
    """Return whether the browser says that the key is discoverable; ``None`` if it says nothing."""
    results = members.get("clientExtensionResults")
    properties = results.get("credProps") if isinstance(results, dict) else None
    value = properties.get("rk") if isinstance(properties, dict) else None
    return value if isinstance(value, bool) else None
