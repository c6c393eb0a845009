"""From the text of an access token to the user and application behind it (RFC 6750)."""

import time
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from identity.core import ids, tenancy
from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily, RevokedToken
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import tokens

LEEWAY: Final = 5  # seconds that our own clocks may differ by


class InvalidBearer(Exception):
    """The token is no good here. The text says why, for developers."""


class ApplicationGone(InvalidBearer):
    """The token is ours and in time, but its application was deleted."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts through an access token, proven a moment ago."""

    user: User
    application_id: UUID
    claims: dict[str, Any]

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the token."""
        return tuple(self.claims["scope"].split())


def end_user(token: str) -> Principal:
    """Return the end user behind an access token of the active tenant, in one query.

    Checked in this order: signature, expiry, application, user, family or session, revoked id.

    Raises:
        InvalidBearer: one of them says no, or the token is of another kind.

    """
    try:
        parsed = tokens.read_access_token(token)
    except InvalidToken as error:
        raise InvalidBearer(f"The access token is not valid: {error}.") from None
    check_times_and_issuer(parsed.claims)
    if parsed.claims.get("token_type") == "m2m":
        raise InvalidBearer("The access token speaks for an application, not for a user.")
    user = _live_user(parsed.kid, parsed.claims)
    return Principal(user, user.application_key, parsed.claims)  # type: ignore[attr-defined]


def check_times_and_issuer(claims: dict[str, Any]) -> None:
    """Check what every access token of ours has.

    Raises:
        InvalidBearer: it is not in time, or somebody else's.

    """
    now = time.time()
    if max(claims["iat"], claims.get("nbf", 0)) > now + LEEWAY:
        raise InvalidBearer("The access token is not valid yet.")
    if claims["exp"] <= now:
        raise InvalidBearer("The access token expired.")
    if claims["iss"] != tenancy.active().issuer:
        raise InvalidBearer("The access token was issued by somebody else.")


def _live_user(kid: str, claims: dict[str, Any]) -> User:
    subject = ids.parse(claims["sub"])
    if subject is None:
        raise InvalidBearer("The access token has no subject.")
    user = (
        User.objects.filter(pk=subject)
        .annotate(
            key_is_listed=Exists(SigningKey.objects.filter(pk=kid)),
            application_key=Subquery(
                Application.objects.filter(client_id=claims["client_id"]).values("pk")[:1]
            ),
            grant_is_live=_grant_is_live(claims),
            is_revoked=Exists(RevokedToken.objects.filter(token_id=claims["jti"])),
        )
        .first()
    )
    if user is None:
        raise _why_nobody(kid, claims)
    if not user.key_is_listed:  # type: ignore[attr-defined]
        raise InvalidBearer("The signing key was deleted.")
    if user.application_key is None:  # type: ignore[attr-defined]
        raise ApplicationGone("The application was deleted.")
    if user.is_suspended:
        raise InvalidBearer("The user is suspended.")
    if not user.grant_is_live or user.is_revoked:  # type: ignore[attr-defined]
        raise InvalidBearer("The access token was revoked, or its session ended.")
    return user


def _why_nobody(kid: str, claims: dict[str, Any]) -> InvalidBearer:
    """Return the refusal of a token without a user: an application that is gone comes first."""
    listed = SigningKey.objects.filter(pk=kid).exists()
    if listed and not Application.objects.filter(client_id=claims.get("client_id")).exists():
        return ApplicationGone("The application was deleted.")
    return InvalidBearer("The user is gone.")


def _grant_is_live(claims: dict[str, Any]) -> Exists:
    """Ask for the refresh family behind a token or, without one, for the browser session."""
    family = ids.parse(str(claims.get("family_id")))
    if family is not None:
        return Exists(RefreshFamily.objects.live().filter(pk=family, user=OuterRef("pk")))
    session = ids.parse(str(claims.get("sid")))
    if session is None:
        raise InvalidBearer("The access token names neither a family nor a session.")
    return Exists(Session.objects.live().filter(pk=session, user=OuterRef("pk")))
