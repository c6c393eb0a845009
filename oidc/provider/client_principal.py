"""Authentication of an application by an access token of the client credentials grant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists

from identity.core.tenant_statements import Select, text, uuid
from oidc.applications.models import Application
from oidc.grants.models import RevokedToken
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import tokens
from oidc.provider.bearer import InvalidBearer, check_times_and_issuer

Claims = Mapping[str, Any]


class PrincipalQuery:
    """The query for the application of a token, with further conditions by name.

    The conditions are compiled once. What differs between requests is a parameter of the statement.
    """

    def __init__(self, **conditions: Callable[[], Exists]) -> None:
        self.names: Final = tuple(conditions)
        self.statement: Final = Select(
            lambda: Application.objects.filter(client_id=text("client_id")).annotate(
                key_is_listed=Exists(SigningKey.objects.filter(pk=uuid("kid"))),
                is_revoked=Exists(RevokedToken.objects.filter(token_id=text("token_id"))),
                **{name: condition() for name, condition in conditions.items()},
            )[:1]
        )


# Takes the claims of a token. Returns the query for its application, and the values of its parameters.
ChooseQuery = Callable[[Claims], tuple[PrincipalQuery, Mapping[str, object]]]


class NotAClientToken(Exception):
    """The token is valid, but a user's."""


@dataclass(frozen=True, slots=True)
class ClientPrincipal:
    """An application that acts on its own behalf. ``conditions`` has the results of the query, by name."""

    application: Application
    claims: Claims
    conditions: Mapping[str, bool]

    is_authenticated = True  # for REST framework
    # An application proves itself with each token.
    has_recent_proof = True
    has_signed_in_recently = True
    vouches_for_addresses = True  # emails and phones of users it creates count as proven
    ends_second_factor_locks = True

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes of the token."""
        return frozenset(self.claims["scope"].split())

    @property
    def audiences(self) -> frozenset[str]:
        """The audiences of the token."""
        return frozenset(tokens.get_audiences(self.claims))


def authenticate(token: str, choose_query: ChooseQuery) -> ClientPrincipal:
    """Return the application of a client-credentials token of the active tenant, in one query.

    The query checks that the key and the application exist and that the token is not revoked. The caller
    adds conditions for what the application's roles grant now.

    Raises:
        InvalidBearer: the token is forged, expired or revoked, or its application was deleted.
        NotAClientToken: it is a user's token.

    """
    try:
        parsed = tokens.read_access_token(token)
    except InvalidToken as error:
        raise InvalidBearer(f"The access token is not valid: {error}.") from None
    claims = parsed.claims
    check_times_and_issuer(claims)
    query, values = choose_query(claims)
    application: Any = query.statement.first(
        client_id=claims["client_id"], kid=parsed.kid, token_id=claims["jti"], **values
    )
    if application is None or not application.key_is_listed or application.is_revoked:
        raise InvalidBearer("The access token was revoked, or its application or key is gone.")
    if claims.get("token_type") != "m2m":
        raise NotAClientToken
    return ClientPrincipal(application, claims, {name: getattr(application, name) for name in query.names})
