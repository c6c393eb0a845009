"""Compact JWS (RFC 7515): bytes in, bytes out, no database.

Parsing is strict: a known algorithm, one type, no ``crit``, nothing fetched from a header.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import orjson
from cryptography.exceptions import InvalidSignature

from identity.core import memory
from oidc.keys.algorithms import SIGNERS

# Characters. An ID token has at most 76,000, and its ``nonce``; an access token has at most 37,000.
LONGEST: Final = 131_072
_MOST_CACHED: Final = 8_192  # bytes in memory
_COMPACT: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class InvalidToken(Exception):
    """The text is not a token that one of the tenant's keys signed."""


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """The parts of a token. Trust none of them before ``verify`` has returned.

    Requests share one object, so its claims are read-only. An object equals only itself, so it can be the key
    of a cache, also of one that must not mix tenants. ``is_cacheable`` says whether it takes at most 8 KiB of
    memory; no cache may hold a larger one.
    """

    alg: str
    kid: str
    typ: str
    claims: Mapping[str, Any]
    signing_input: bytes
    signature: bytes
    is_cacheable: bool = False


def encode(value: bytes) -> str:
    """Encode as base64url without padding (RFC 7515 section 2)."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Decode base64url without padding. Only the canonical encoding is accepted.

    Raises:
        InvalidToken: the text is not base64url, or not its canonical form.

    """
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidToken("not base64url") from None
    if encode(value) != text:
        raise InvalidToken("not canonical base64url")
    return value


def sign(claims: bytes, *, typ: str, kid: str, algorithm: str, key: Any) -> str:
    """Return the compact JWS of a claim set in JSON. The key must be one for this algorithm."""
    header = {"alg": algorithm, "typ": typ, "kid": kid}
    signing_input = f"{encode(orjson.dumps(header))}.{encode(claims)}"
    signature = SIGNERS[algorithm].sign(key, signing_input.encode())
    return f"{signing_input}.{encode(signature)}"


def parse(token: str) -> Parsed:
    """Split a token into its parts without verifying it.

    Raises:
        InvalidToken: it is not a compact JWS whose header names a known algorithm, a type and a key.

    """
    if len(token) > LONGEST or not _COMPACT.fullmatch(token):
        raise InvalidToken("not a compact JWS")
    signing_input, _, signature = token.rpartition(".")
    header_text, _, payload_text = signing_input.partition(".")
    header, claims = _parse_object(header_text), _parse_object(payload_text)
    alg, kid, typ = header.get("alg"), header.get("kid"), header.get("typ")
    if not isinstance(alg, str) or alg not in SIGNERS or "crit" in header:
        raise InvalidToken("not signed with a known algorithm")
    if not isinstance(kid, str) or not isinstance(typ, str):
        raise InvalidToken("no kid or typ")
    signed = signing_input.encode()
    is_cacheable = memory.get_size(claims, token, signed, limit=_MOST_CACHED) <= _MOST_CACHED
    return Parsed(alg, kid, typ, MappingProxyType(claims), signed, decode(signature), is_cacheable)


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(decode(text))
    except orjson.JSONDecodeError:
        raise InvalidToken("not JSON") from None
    if not isinstance(value, dict):
        raise InvalidToken("not a JSON object")
    return value


def verify(parsed: Parsed, *, algorithm: str, key: Any) -> None:
    """Verify the signature of a token with a public key and the algorithm of this key.

    Raises:
        InvalidToken: the header names another algorithm, or the signature is wrong.

    """
    # RFC 8725 section 3.1: the verifier chooses the algorithm, never the token.
    if parsed.alg != algorithm:
        raise InvalidToken("another algorithm than that of the key")
    try:
        SIGNERS[algorithm].verify(key, parsed.signature, parsed.signing_input)
    except InvalidSignature:
        raise InvalidToken("the signature is wrong") from None
