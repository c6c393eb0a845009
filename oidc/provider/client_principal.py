"""From the text of an access token to the application that speaks for itself through it."""

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


class Asking:
    """What shall be known of an application besides, by name: asked in the query that finds it.

    Questions are written once for all requests. What differs is ``Given`` in them.
    """

    def __init__(self, **questions: Callable[[], Exists]) -> None:
        self.names: Final = tuple(questions)
        self.statement: Final = Select(
            lambda: Application.objects.filter(client_id=text("client_id")).annotate(
                key_is_listed=Exists(SigningKey.objects.filter(pk=uuid("kid"))),
                is_revoked=Exists(RevokedToken.objects.filter(token_id=text("token_id"))),
                **{name: question() for name, question in questions.items()},
            )[:1]
        )


# From a token's claims, as yet unproven, to what shall be asked of its application, and for which values.
Questions = Callable[[Claims], tuple[Asking, Mapping[str, object]]]


class NotAMachine(Exception):
    """The token is good, but speaks for a user."""


@dataclass(frozen=True, slots=True)
class Machine:
    """An application that acts in its own name, proven a moment ago."""

    application: Application
    claims: Claims
    answers: Mapping[str, bool]

    is_authenticated = True  # what REST framework asks of a caller
    vouches_for_addresses = True  # of users it creates: no role limits what an application may do

    @property
    def scopes(self) -> frozenset[str]:
        """The words of the token's scope."""
        return frozenset(self.claims["scope"].split())

    @property
    def audiences(self) -> frozenset[str]:
        """Whom the token is for."""
        return frozenset(tokens.audiences_of(self.claims))


def machine(token: str, questions: Questions) -> Machine:
    """Return the application behind a client-credentials token of the active tenant, in one query.

    Key, application and revocation are read now. What roles still grant is for the caller to
    ask: the questions ride on that query, and ``answers`` has what they found.

    Raises:
        InvalidBearer: the token is forged, expired or revoked, or its application is gone.
        NotAMachine: it is a user's token.

    """
    try:
        parsed = tokens.read_access_token(token)
    except InvalidToken as error:
        raise InvalidBearer(f"The access token is not valid: {error}.") from None
    claims = parsed.claims
    check_times_and_issuer(claims)
    asking, values = questions(claims)
    application = asking.statement.first(
        client_id=claims["client_id"], kid=parsed.kid, token_id=claims["jti"], **values
    )
    if application is None or not application.key_is_listed or application.is_revoked:  # type: ignore[attr-defined]
        raise InvalidBearer("The access token was revoked, or its application or key is gone.")
    if claims.get("token_type") != "m2m":
        raise NotAMachine
    return Machine(application, claims, {name: getattr(application, name) for name in asking.names})
