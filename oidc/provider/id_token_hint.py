"""ID tokens that come back to us as hints (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2)."""

from dataclasses import dataclass
from typing import Final

from identity.core import tenancy
from oidc.applications.models import Application
from oidc.keys import signing
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider.tokens import ID_TOKEN_TYPE

_KEPT: Final = "subject:"  # no ID token begins like this


class Forged(Exception):
    """The hint is not an ID token that a key of this tenant signed."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An ID token of ours, of any age: for whom, in which session, issued to which application."""

    subject: str
    session_id: str
    client_id: str
    application: Application | None


def read(token: str) -> Hint:
    """Return what a hint says. That it expired does not matter.

    Raises:
        Forged: no listed key of this tenant signed it, or it is no ID token.

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
    )


def kept(token: str) -> str:
    """Return what a request that waits keeps of a hint: whom it names, and never the token."""
    try:
        return f"{_KEPT}{read(token).subject}"
    except Forged:
        return _KEPT


def subject_of(hint: str, *, is_kept: bool) -> str:
    """Return whom a hint names; ``is_kept`` says that it may be one that ``kept`` made.

    Raises:
        Forged: nobody. What was kept by another release is the token itself.

    """
    if is_kept and hint.startswith(_KEPT):
        subject = hint.removeprefix(_KEPT)
        if not subject:
            raise Forged
        return subject
    return read(hint).subject
