"""Userinfo before Django's handler (see ``config.server.surfaces``).

``serve`` answers most requests, with the function that the view calls too. The view answers all others, and
makes every refusal.
"""

from typing import Any, Final

import orjson

from audit import context
from audit.client_address import get_address
from database.batching import Work
from identity.http.answers import Answer
from oidc.keys.models import SigningKey
from oidc.provider import bearer, tokens, userinfo
from oidc.provider.errors import InsufficientScope
from oidc.provider.surface_parts import JSON_HEADERS, UNUSUAL

METHODS: Final = frozenset({"GET", "HEAD", "POST"})
REFUSAL: Final = "gatehouse.refusal"  # no header has this key
_JWT_HEADERS: Final = JSON_HEADERS | {"Content-Type": "application/jwt"}


def serve(environ: dict[str, Any], request_id: str) -> Work[Answer | None]:
    """Return what the view would return, or None if the view must answer.

    If the token is refused, the view gets the refusal in ``environ`` and raises it, so that the token is
    checked once.
    """
    token = _get_usual_token(environ)
    if not token:
        return None
    ip, user_agent = get_address(environ), environ.get("HTTP_USER_AGENT", "")
    try:
        with context.using_client(ip=ip, user_agent=user_agent, request_id=request_id):
            return (yield from build_answer(token))
    except (bearer.InvalidBearer, InsufficientScope) as refusal:
        environ[REFUSAL] = refusal
        return None


def build_answer(token: str) -> Work[Answer]:
    """Return the claims about the user that an access token releases, as JSON or as a JWT.

    Raises:
        bearer.InvalidBearer: the token is not valid.
        InsufficientScope: the token lacks the scope ``openid``.
        SigningKey.DoesNotExist: the key for the JWT was retired or deleted, twice.

    """
    try:
        return (yield from _build_answer(token))
    except SigningKey.DoesNotExist:
        # The algorithm was retired or its key deleted meanwhile, so no application names it any more.
        return (yield from _build_answer(token))


def _build_answer(token: str) -> Work[Answer]:
    parsed = bearer.read(token)
    principal = yield from bearer.find_principal(parsed)
    claims = yield from userinfo.build(principal)
    if not principal.userinfo_alg:
        return Answer(orjson.dumps(claims), JSON_HEADERS)
    # The application has asked for a JWT (OpenID Connect Core 5.3.2).
    signed = yield from tokens.build_userinfo_token(
        claims, client_id=principal.claims["client_id"], algorithm=principal.userinfo_alg
    )
    return Answer(signed.encode(), _JWT_HEADERS)


def _get_usual_token(environ: dict[str, Any]) -> str:
    """Return the token of the header, or an empty string if there is none or the request is unusual."""
    if (
        environ["REQUEST_METHOD"] not in METHODS
        or environ["QUERY_STRING"]
        or environ.get("CONTENT_LENGTH", "") not in {"", "0"}
        or any(name in environ for name in UNUSUAL)
    ):
        return ""
    return get_header_token(environ.get("HTTP_AUTHORIZATION", ""))


def get_header_token(header: str) -> str:
    """Return the bearer token of an Authorization header, or an empty string if it has none."""
    scheme, _, credentials = header.partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else ""
