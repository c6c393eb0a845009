"""Tokens, read and verified by libraries that the product does not use to make them."""

import warnings
from typing import Any

import jwt
from joserfc import jwt as joserfc_jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import KeySet

from tests.support.cast import World


def header_of(token: str) -> dict[str, Any]:
    """The header of a token, unproven."""
    return dict(jwt.get_unverified_header(token))


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a token, unproven."""
    return dict(jwt.decode(token, options={"verify_signature": False}))


def key_set(world: World) -> Any:
    """The key set that a tenant publishes."""
    answer = world.get("/.well-known/jwks.json")
    assert answer.status_code == 200, answer.text
    return answer.json()


def kids(world: World) -> list[str]:
    """The ids of the published keys, in their order."""
    return [key["kid"] for key in key_set(world)["keys"]]


def verified(token: str, published: Any) -> dict[str, Any]:
    """The claims of a token that a published key signed, by both libraries alike."""
    kid = header_of(token)["kid"]
    algorithms = [key["alg"] for key in published["keys"] if key["kid"] == kid]
    with warnings.catch_warnings():
        # The library's name for Ed25519 is the newer one of RFC 9864, which other clients do not know yet.
        warnings.simplefilter("ignore", SecurityWarning)
        by_joserfc = joserfc_jwt.decode(token, KeySet.import_key_set(published), algorithms=algorithms)
    key = jwt.PyJWKSet.from_dict(published)[kid]
    by_pyjwt = jwt.decode(token, key, algorithms=algorithms, options={"verify_aud": False})
    assert by_joserfc.claims == by_pyjwt
    return dict(by_pyjwt)


def bearer(token: str) -> dict[str, str]:
    """The header that presents a token (RFC 6750 section 2.1)."""
    return {"Authorization": f"Bearer {token}"}
