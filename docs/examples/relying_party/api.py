"""An API that asks for a stronger sign-in (RFC 9470): what it checks, and how it says what is missing.

It would be a service of its own. Here it is a route of the demo, which calls it over HTTP like any client.
"""

import re
import time
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

# A sign-in with two factors, or a stronger one, not more than fifteen minutes ago.
ACR_VALUES = ("urn:service:acr:2fa", "phr", "phrh")
MAX_AGE = 900
ALGORITHMS = ["ES256", "RS256", "EdDSA"]
LEEWAY = 30  # seconds that two clocks may differ

_PARAMETER = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Answer:
    """What the API says: a status, a body, and the header of a refusal."""

    status: int
    body: dict[str, Any]
    challenge: str = ""


def transfer(authorization: str, keys: dict[str, Any], issuer: str) -> Answer:
    """Make a transfer for the user of an access token, if the sign-in is strong and fresh enough."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return Answer(401, {"error": "invalid_request"}, "Bearer")
    try:
        read = jwt.decode(token, KeySet.import_key_set(keys), algorithms=ALGORITHMS)
        # Without `resource`, the audience of an access token is the provider. An API has its own.
        checks = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": issuer},
            exp={"essential": True},
        )
        checks.validate(read.claims)
    except (JoseError, ValueError):
        return _refuse("invalid_token", "the token is not valid")
    if read.header.get("typ") != "at+jwt":
        return _refuse("invalid_token", "this is no access token")
    if read.claims.get("acr") not in ACR_VALUES:
        return _ask("two factors are needed")
    if time.time() - read.claims.get("auth_time", 0) > MAX_AGE + LEEWAY:
        return _ask("the sign-in is too old")
    return Answer(200, {"transferred": True, "acr": read.claims["acr"]})


def read_challenge(header: str) -> dict[str, str]:
    """Return what an API asks a client to request, or nothing if it asks for no other sign-in."""
    parameters = dict(_PARAMETER.findall(header))
    if parameters.get("error") != "insufficient_user_authentication":
        return {}
    return {name: parameters[name] for name in ("acr_values", "max_age") if name in parameters}


def _ask(reason: str) -> Answer:
    """Ask for another sign-in (RFC 9470 section 3)."""
    return _refuse(
        "insufficient_user_authentication", reason, acr_values=" ".join(ACR_VALUES), max_age=str(MAX_AGE)
    )


def _refuse(error: str, description: str, **further: str) -> Answer:
    parameters = {"error": error, "error_description": description} | further
    listed = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    return Answer(401, {"error": error}, f"Bearer {listed}")
