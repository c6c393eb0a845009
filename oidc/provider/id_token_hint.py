"""ID tokens that clients send as hints (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from identity.core import tenancy
from oidc.applications.models import Application
from oidc.keys import signing
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider.tokens import ID_TOKEN_TYPE

_LATEST: Final = 2**32  # seconds: a time that every database can store
_STORED_PREFIX: Final = "subject:"  # no ID token has a colon


class Forged(Exception):
    """The hint is not an ID token that a key of this tenant signed."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The user, session and application of an ID token, which may have expired.

    ``issued_at`` is in seconds, not earlier than the sign-in, and 0 if the token has no such time.
    """

    subject: str
    session_id: str
    client_id: str
    application: Application | None
    issued_at: int


def read(token: str) -> Hint:
    """Return the contents of a hint, which may have expired.

    Raises:
        Forged: no published key of this tenant signed it, or it is not an ID token.

    """
    try:
        parsed = signing.verify(token, typ=ID_TOKEN_TYPE)
    except InvalidToken:
        raise Forged from None
    claims = parsed.claims
    if claims.get("iss") != tenancy.active().issuer or not SigningKey.objects.filter(pk=parsed.kid).exists():
        raise Forged
    return Hint(
        subject=str(claims["sub"]),
        session_id=str(claims["sid"]),
        client_id=str(claims["aud"]),
        application=Application.objects.filter(client_id=claims["aud"]).first(),
        issued_at=_read_issued_at(claims),
    )


def _read_issued_at(claims: Mapping[str, Any]) -> int:
    """Return when the token was issued, or the time of its sign-in if that is later.

    A node whose clock is behind writes an ``iat`` that is earlier than the sign-in.
    """
    issued_at = _read_time(claims.get("iat"))
    return max(issued_at, _read_time(claims.get("auth_time"))) if issued_at else 0


def _read_time(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value < _LATEST else 0


def to_stored(token: str) -> str:
    """Return the subject of a hint in the form that is stored with a pending request."""
    try:
        return f"{_STORED_PREFIX}{read(token).subject}"
    except Forged:
        return _STORED_PREFIX


def get_subject(hint: str, *, is_stored: bool) -> str:
    """Return the subject of a hint. If ``is_stored``, the hint may be what ``to_stored`` returned.

    A release before ``to_stored`` stored the ID token itself.

    Raises:
        Forged: the hint is not an ID token of this tenant.

    """
    if is_stored and hint.startswith(_STORED_PREFIX):
        subject = hint.removeprefix(_STORED_PREFIX)
        if not subject:
            raise Forged
        return subject
    return read(hint).subject
