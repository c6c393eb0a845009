"""The queries for the user of an access token, with all that must be true for the token to be valid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery

from database import ids
from database.batching import Work
from identity.core.tenant_statements import Select, text, uuid
from identity.factors.levels import Level
from identity.sessions.models import SIGNED_IN_AT, Session
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily, RevokedToken
from oidc.keys.jws import Parsed
from oidc.keys.models import SigningKey
from oidc.provider import bearer_consents, tokens

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class IncompleteToken(Exception):
    """The access token lacks what its query needs. The text says what."""


@dataclass(frozen=True, slots=True)
class _UserQueries:
    """The queries for the user of a token, one for each kind of grant that a token can depend on."""

    by_family: Select[User]
    by_session: Select[User]


def find_user(parsed: Parsed, *, for_context: bool) -> Work[User | None]:
    """Return the user of a token with the annotations of ``_annotate_users``, or None.

    ``for_context`` adds those of ``_annotate_for_context``, and the row of the tenant.

    Raises:
        IncompleteToken: the token names no user, or nothing that it depends on.

    """
    bind = _bind_once if parsed.is_cacheable else _bind
    query, parameters = bind(parsed, for_context=for_context)
    return (yield from query.find_bound(parameters))


def _bind(parsed: Parsed, *, for_context: bool) -> tuple[Select[User], Sequence[Any]]:
    """Return the query for a token and its parameters, which follow from the token and its tenant alone."""
    claims, queries = parsed.claims, _FOR_CONTEXT if for_context else _FOR_USERINFO
    subject = ids.parse(claims["sub"])
    if subject is None:
        raise IncompleteToken("The access token has no subject.")
    query, grant_id = _query_by_grant(queries, claims)
    return query, query.bind(
        subject=subject,
        kid=parsed.kid,
        client_id=claims["client_id"],
        token_id=claims["jti"],
        grant_id=grant_id,
        **_consent_values(claims),
    )


_bind_once: Final = lru_cache(maxsize=1024)(_bind)


def _query_by_grant(queries: _UserQueries, claims: Mapping[str, Any]) -> tuple[Select[User], UUID]:
    """Return the query for the kind of grant that a token depends on, and the id of the grant.

    Raises:
        IncompleteToken: the token names neither a refresh family nor a session.

    """
    family_id = ids.parse(str(claims.get("family_id")))
    if family_id is not None:
        return queries.by_family, family_id
    session_id = ids.parse(str(claims.get("sid")))
    if session_id is None:
        raise IncompleteToken("The access token names neither a family nor a session.")
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
        agreed_to_old_profile=Exists(bearer_consents.with_old_profile()),
        grant_is_live=Exists(grant),
        is_revoked=Exists(RevokedToken.objects.filter(token_id=text("token_id"))),
    )


def _annotate_for_context(live_grants: Callable[[], QuerySet[Any]]) -> QuerySet[User]:
    """Add what the session context shows, and the row of the tenant."""
    model = live_grants().model
    grant = model.objects.filter(pk=uuid("grant_id"))
    signed_in_at = SIGNED_IN_AT if model is Session else F("created_at")
    return (
        _annotate_users(live_grants)
        .select_related("tenant")
        .annotate(
            application_name=_application_column("name"),
            application_type=_application_column("type"),
            is_strong=Exists(grant.filter(level__gte=Level.TWO)),
            # As ``remembered.counts``, which compares it with the policy.
            remembered_at=Subquery(grant.filter(remembered=True).values(signed_in_at=signed_in_at)[:1]),
        )
    )


def _application_column(column: str) -> Subquery:
    return Subquery(Application.objects.filter(client_id=text("client_id")).values(column)[:1])


_FOR_USERINFO: Final = _UserQueries(
    by_family=Select(lambda: _annotate_users(RefreshFamily.objects.live)[:1]),
    by_session=Select(lambda: _annotate_users(Session.objects.live)[:1]),
)
_FOR_CONTEXT: Final = _UserQueries(
    by_family=Select(lambda: _annotate_for_context(RefreshFamily.objects.live)[:1]),
    by_session=Select(lambda: _annotate_for_context(Session.objects.live)[:1]),
)
