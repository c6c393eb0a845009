"""Who calls this API: read from the access token and checked here, without asking Gatehouse.

Needs ``pip install "pyjwt[crypto]"``. No framework: call ``caller`` where yours asks who is there.
"""

import os
from typing import Any

import jwt

ISSUER = os.environ["ISSUER"]  # https://id.example.com, or https://id.example.com/t/acme
AUDIENCE = os.environ["AUDIENCE"]  # the indicator of this API: https://api.example.com/orders

# Fetches the key set when it meets a key it does not know, and keeps it for five minutes.
keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json", lifespan=300)


class RefusedError(Exception):
    """Answer with this status, and with this text as ``WWW-Authenticate`` (RFC 6750 section 3)."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.challenge = status, f'Bearer error="{error}"'


def caller(authorization: str, *, scope: str) -> dict[str, Any]:
    """Return the claims of the token in an ``Authorization`` header, which has to hold this scope.

    Raises:
        RefusedError: there is no token, it is not good, or it may not do this.

    """
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise RefusedError(401, "invalid_request")
    try:
        key = keys.get_signing_key_from_jwt(token)
        read = jwt.decode_complete(
            token,
            key,
            algorithms=["ES256"],
            issuer=ISSUER,
            audience=AUDIENCE,
            leeway=30,
            options={"require": ["exp", "iat", "sub", "client_id"]},
        )
    except jwt.PyJWKClientConnectionError:
        raise  # the key set could not be fetched: that is no fault of the caller
    except jwt.PyJWTError as error:
        raise RefusedError(401, "invalid_token") from error
    # An ID token is signed by the same key: the type tells them apart (RFC 9068 section 4).
    if read["header"]["typ"] != "at+jwt":
        raise RefusedError(401, "invalid_token")
    claims: dict[str, Any] = read["payload"]
    if scope not in claims["scope"].split():
        raise RefusedError(403, "insufficient_scope")
    return claims
