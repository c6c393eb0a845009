"""Authentication of a user by an access token (RFC 6750)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from database import batching
from database.batching import Work
from identity.core import tenancy
from identity.factors import remembered_rule
from identity.users.models import User
from oidc.applications.models import Application
from oidc.keys.jws import InvalidToken, Parsed
from oidc.keys.models import SigningKey
from oidc.provider import bearer_queries, tokens

P = TypeVar("P", bound="Principal")

LEEWAY: Final = 5  # seconds of clock skew between nodes


class InvalidBearer(Exception):
    """The access token is not valid. The text says why, for developers."""


class ApplicationGone(InvalidBearer):
    """The token is valid, but its application was deleted."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The user and application of a valid access token.

    ``userinfo_alg`` is empty if userinfo is not signed. ``agreed_to_old_profile``: the user's consent to a
    third-party application is an old one, which named fewer members of the ``profile``.
    """

    user: User
    application_id: UUID
    claims: Mapping[str, Any]
    is_third_party: bool
    userinfo_alg: str
    custom_claims: tuple[dict[str, Any], ...]
    agreed_to_old_profile: bool

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the token."""
        return tuple(self.claims["scope"].split())


@dataclass(frozen=True, slots=True)
class ContextPrincipal(Principal):
    """A principal with what the session context shows besides.

    ``is_strong``: the user signed in with two factors. ``remembered_at`` is when the user signed in, if it
    was in a remembered browser.
    """

    application_name: str
    application_type: str
    is_strong: bool
    remembered_at: datetime | None

    def satisfies_organizations(self) -> bool:
        """Return whether organizations that require two factors accept the sign-in: see ``target_demands``.

        For a remembered browser this reads the policy of now.
        """
        if self.is_strong or self.remembered_at is None:
            return self.is_strong
        return remembered_rule.still_counts(self.user.pk, self.remembered_at)


def authenticate(token: str) -> Principal:
    """Return the user and application of an access token of the active tenant.

    Raises:
        InvalidBearer: a check of ``read`` or ``find_principal`` failed.

    """
    return batching.run(find_principal(read(token)))


def authenticate_for_context(token: str) -> ContextPrincipal:
    """Return what ``authenticate`` returns, with what the session context shows and the row of the tenant.

    Raises:
        InvalidBearer: as ``authenticate``.

    """
    parsed = read(token)
    user = batching.run(_find_live_user(parsed, for_context=True))
    return _build(
        ContextPrincipal,
        user,
        parsed,
        application_name=user.application_name,
        application_type=user.application_type,
        is_strong=user.is_strong,
        remembered_at=user.remembered_at,
    )


def read(token: str) -> Parsed:
    """Return a user's access token after the checks that need no query: signature, times and issuer.

    Raises:
        InvalidBearer: a check failed, or the token is an application's own.

    """
    try:
        parsed = tokens.read_access_token(token)
    except InvalidToken as error:
        raise InvalidBearer(f"The access token is not valid: {error}.") from None
    check_times_and_issuer(parsed.claims)
    if parsed.claims.get("token_type") == "m2m":
        raise InvalidBearer("The access token speaks for an application, not for a user.")
    return parsed


def find_principal(parsed: Parsed) -> Work[Principal]:
    """Return the user and application of a token that ``read`` returned, in one query.

    The order of checks: signing key, application, user, family or session, revoked id; then, for a
    third-party application, audience and consent.

    Raises:
        InvalidBearer: a check failed.

    """
    user = yield from _find_live_user(parsed, for_context=False)
    return _build(Principal, user, parsed)


def _build(kind: type[P], user: Any, parsed: Parsed, **further: Any) -> P:
    """Return a principal of this kind. ``further`` are the fields that ``Principal`` does not have."""
    return kind(
        user,
        user.application_key,
        parsed.claims,
        is_third_party=user.application_is_third_party,
        userinfo_alg=user.application_userinfo_alg,
        custom_claims=tuple(user.application_custom_claims),
        agreed_to_old_profile=user.application_is_third_party and user.agreed_to_old_profile,
        **further,
    )


def check_times_and_issuer(claims: Mapping[str, Any]) -> None:
    """Check the times and the issuer of an access token.

    Raises:
        InvalidBearer: it is not valid yet, has expired, or has another issuer.

    """
    now = time.time()
    if max(claims["iat"], claims.get("nbf", 0)) > now + LEEWAY:
        raise InvalidBearer("The access token is not valid yet.")
    if claims["exp"] <= now:
        raise InvalidBearer("The access token expired.")
    if claims["iss"] != tenancy.active().issuer:
        raise InvalidBearer("The access token has another issuer (iss).")


def _find_live_user(parsed: Parsed, *, for_context: bool) -> Work[Any]:
    """Return the user of a token with the annotations of ``bearer_queries``.

    Raises:
        InvalidBearer: the token is no longer valid.

    """
    try:
        user: Any = yield from bearer_queries.find_user(parsed, for_context=for_context)
    except bearer_queries.IncompleteToken as error:
        raise InvalidBearer(str(error)) from None
    claims = parsed.claims
    if user is None:
        raise _missing_user_error(parsed.kid, claims)
    if not user.key_is_listed:
        raise InvalidBearer("The signing key was deleted.")
    if user.application_key is None:
        raise ApplicationGone("The application was deleted.")
    if user.is_suspended:
        raise InvalidBearer("The user is suspended.")
    if not user.grant_is_live or user.is_revoked:
        raise InvalidBearer("The access token was revoked, or its session ended.")
    if user.application_is_third_party:
        _check_third_party(user, claims)
    return user


def _check_third_party(user: Any, claims: Mapping[str, Any]) -> None:
    """Check the audience, consent and epoch of a third-party application's token (decisions N2 and N4).

    Raises:
        InvalidBearer: the token is for another API, its consent was revoked, or the password was changed.

    """
    if tenancy.active().issuer not in tokens.get_audiences(claims):
        raise InvalidBearer("The audience (aud) of the access token does not include this issuer.")
    if not user.consent_is_live or not tokens.has_current_epoch(claims, user):
        raise InvalidBearer("The user no longer agrees, or the password was changed.")


def _missing_user_error(kid: str, claims: Mapping[str, Any]) -> InvalidBearer:
    """Return the error for a token whose user was not found. A deleted application is reported first."""
    is_key_listed = SigningKey.objects.filter(pk=kid).exists()
    if is_key_listed and not Application.objects.filter(client_id=claims.get("client_id")).exists():
        return ApplicationGone("The application was deleted.")
    return InvalidBearer("The user is gone.")
