"""Authentication of a user by an access token (RFC 6750)."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery

from database import ids
from identity.core import tenancy
from identity.core.tenant_statements import Select, text, uuid
from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily, RevokedToken
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import bearer_consents, target_demands, tokens

LEEWAY: Final = 5  # seconds of clock skew between nodes
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidBearer(Exception):
    """The access token is not valid. The text says why, for developers."""


class ApplicationGone(InvalidBearer):
    """The token is valid, but its application was deleted."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The user and application of a valid access token.

    ``userinfo_alg`` is empty if userinfo is not signed. Without ``with_names`` of ``authenticate``, the name
    and type are empty and ``satisfies_organizations`` (see ``target_demands``) is false.
    ``has_old_profile`` is that of the user's consent to a third-party application.
    """

    user: User
    application_id: UUID
    claims: Mapping[str, Any]
    application_name: str = ""
    application_type: str = ""
    is_third_party: bool = False
    userinfo_alg: str = ""
    custom_claims: tuple[dict[str, Any], ...] = ()
    has_old_profile: bool = False
    satisfies_organizations: bool = False

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the token."""
        return tuple(self.claims["scope"].split())


def authenticate(token: str, *, with_names: bool = False) -> Principal:
    """Return the user and application of an access token of the active tenant, in one query.

    The order of checks: signature, expiry, application, user, family or session, revoked id; then, for
    a third-party application, audience and consent. ``with_names`` also reads the name and type of the
    application, the row of the tenant, and how strong the sign-in was.

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
    user = _find_live_user(_WITH_NAMES if with_names else _WITHOUT_NAMES, parsed.kid, parsed.claims)
    return Principal(
        user,
        user.application_key,
        parsed.claims,
        is_third_party=user.application_is_third_party,
        userinfo_alg=user.application_userinfo_alg,
        custom_claims=tuple(user.application_custom_claims),
        has_old_profile=user.application_is_third_party and user.has_old_profile,
        application_name=user.application_name if with_names else "",
        application_type=user.application_type if with_names else "",
        satisfies_organizations=with_names and user.is_strong,
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
        raise InvalidBearer("The access token was issued by somebody else.")


@dataclass(frozen=True, slots=True)
class _UserQueries:
    """The queries for the user of a token, one for each kind of grant that a token can depend on."""

    by_family: Select[User]
    by_session: Select[User]


def _find_live_user(queries: _UserQueries, kid: str, claims: Mapping[str, Any]) -> Any:
    """Return the user of a token with the annotations of ``_annotate_users``.

    Raises:
        InvalidBearer: the token is no longer valid.

    """
    subject = ids.parse(claims["sub"])
    if subject is None:
        raise InvalidBearer("The access token has no subject.")
    query, grant_id = _query_by_grant(queries, claims)
    user: Any = query.first(
        subject=subject,
        kid=kid,
        client_id=claims["client_id"],
        token_id=claims["jti"],
        grant_id=grant_id,
        **_consent_values(claims),
    )
    if user is None:
        raise _missing_user_error(kid, claims)
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
        raise InvalidBearer("The access token is for somebody else.")
    if not user.consent_is_live or not tokens.has_current_epoch(claims, user):
        raise InvalidBearer("The user no longer agrees, or the password was changed.")


def _missing_user_error(kid: str, claims: Mapping[str, Any]) -> InvalidBearer:
    """Return the error for a token whose user was not found. A deleted application is reported first."""
    is_key_listed = SigningKey.objects.filter(pk=kid).exists()
    if is_key_listed and not Application.objects.filter(client_id=claims.get("client_id")).exists():
        return ApplicationGone("The application was deleted.")
    return InvalidBearer("The user is gone.")


def _query_by_grant(queries: _UserQueries, claims: Mapping[str, Any]) -> tuple[Select[User], UUID]:
    """Return the query for the kind of grant that a token depends on, and the id of the grant.

    Raises:
        InvalidBearer: the token names neither a refresh family nor a session.

    """
    family_id = ids.parse(str(claims.get("family_id")))
    if family_id is not None:
        return queries.by_family, family_id
    session_id = ids.parse(str(claims.get("sid")))
    if session_id is None:
        raise InvalidBearer("The access token names neither a family nor a session.")
    return queries.by_session, session_id


def _consent_values(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the queries that select the consent of a token.

    A token of release 0.1.0 does not name its consent. Such a token is valid if the consent was given
    before the token was issued, unless the token is for an organization.
    """
    consent_id = ids.parse(str(claims.get(tokens.CONSENT)))
    organization_id = ids.parse(str(claims.get("organization_id")))
    issued_at = datetime.fromtimestamp(claims["iat"] + 1, tz=UTC)
    return {
        "consent_id": consent_id if organization_id is None else None,
        "target_id": None if organization_id is None else consent_id,
        "organization_id": organization_id,
        "agreed_before": issued_at if consent_id is None and organization_id is None else _NEVER,
    }


def _annotate_users(live_grants: Callable[[], QuerySet[Any]]) -> QuerySet[User]:
    """Return the user of a token, annotated with all that must be true for the token to be valid."""
    grant = live_grants().filter(pk=uuid("grant_id"), user=OuterRef("pk"))
    return User.objects.filter(pk=uuid("subject")).annotate(
        key_is_listed=Exists(SigningKey.objects.filter(pk=uuid("kid"))),
        application_key=_application_column("pk"),
        application_is_third_party=_application_column("is_third_party"),
        application_userinfo_alg=_application_column("userinfo_signed_response_alg"),
        application_custom_claims=_application_column("custom_claims"),
        consent_is_live=ExpressionWrapper(
            Q(Exists(bearer_consents.of_token())) | Q(Exists(bearer_consents.targets_of_token())),
            output_field=BooleanField(),
        ),
        has_old_profile=Exists(bearer_consents.with_old_profile()),
        grant_is_live=Exists(grant),
        is_revoked=Exists(RevokedToken.objects.filter(token_id=text("token_id"))),
    )


def _annotate_names(live_grants: Callable[[], QuerySet[Any]]) -> QuerySet[User]:
    grant = live_grants().model.objects.filter(pk=uuid("grant_id"))
    return (
        _annotate_users(live_grants)
        .select_related("tenant")
        .annotate(
            application_name=_application_column("name"),
            application_type=_application_column("type"),
            is_strong=Exists(grant.filter(target_demands.SATISFIES_ORGANIZATIONS)),
        )
    )


def _application_column(column: str) -> Subquery:
    return Subquery(Application.objects.filter(client_id=text("client_id")).values(column)[:1])


_WITHOUT_NAMES: Final = _UserQueries(
    by_family=Select(lambda: _annotate_users(RefreshFamily.objects.live)[:1]),
    by_session=Select(lambda: _annotate_users(Session.objects.live)[:1]),
)
_WITH_NAMES: Final = _UserQueries(
    by_family=Select(lambda: _annotate_names(RefreshFamily.objects.live)[:1]),
    by_session=Select(lambda: _annotate_names(Session.objects.live)[:1]),
)
