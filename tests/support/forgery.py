"""Forged tokens: without a signature, with altered claims, or signed with a wrong key."""

import base64
import json
from typing import Any, Literal

from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support.cast import World
from tests.support.independent import claims_of, header_of


def encode(value: bytes) -> str:
    """Base64url without padding (RFC 7515 section 2)."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    """Header and claims of a JWS, without the signature and the dot before it."""
    return f"{encode(json.dumps(header).encode())}.{encode(json.dumps(claims).encode())}"


def altered(token: str, part: Literal["header", "claims"], **changes: Any) -> str:
    """Return a token with changed claims and the old signature. None removes a claim."""
    said = {"header": header_of(token), "claims": claims_of(token)}
    said[part] = {name: value for name, value in (said[part] | changes).items() if value is not None}
    return f"{unsigned(said['header'], said['claims'])}.{token.rpartition('.')[2]}"


def signed_by(world: World, claims: dict[str, Any], *, typ: str = "at+jwt") -> str:
    """Claims signed with the tenant's active key, as if the tenant had said them."""
    with world.active():
        return signing.sign(claims, typ=typ, key_id=SigningKey.objects.default().get().pk)
