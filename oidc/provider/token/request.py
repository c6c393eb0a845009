"""The results of the steps of a token request (see ``endpoint``), one class for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from audit.events import Event
from audit.models import Entry
from database.batching import Work
from oidc.applications.models import Application
from oidc.grants.known_applications import KnownApplication
from oidc.grants.models import RefreshFamily
from oidc.provider.client_authentication import Client
from oidc.provider.grant_context import GrantContext


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A parsed token request. ``parameters`` has those that its grant reads, without empty ones.

    ``is_trial`` says that the operators' site redeems the code of a trial; requests over HTTP never have it.
    """

    grant_type: str
    grant: "Grant"
    parameters: Mapping[str, str]
    authorization: str | None
    is_trial: bool = False

    def __getitem__(self, name: str) -> str:
        """Return a parameter, or an empty string if it was not sent."""
        return self.parameters.get(name, "")


@dataclass(frozen=True, slots=True)
class FoundClient:
    """The client with the claimed id, not authenticated yet, and the code or refresh token that it presents.

    One query reads both.
    """

    client: Client
    presented: object = None


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A token request that has passed client authentication.

    ``is_secret_checked``: the client sent a secret, which is valid; a public client may send only its id.
    ``presented`` is the code or refresh token, which only the module of the grant reads.
    """

    parsed: TokenRequest
    client: Client
    presented: object
    is_secret_checked: bool

    @property
    def application(self) -> Application:
        """The application that made the request."""
        return self.client.application


@dataclass(frozen=True, slots=True)
class Repeatable:
    """What plans are made of, besides the contents of the token: the request and the audit entry."""

    request: AuthenticatedRequest
    entry: Entry


@dataclass(frozen=True, slots=True)
class Granted:
    """What a token request is granted. The grant is stored; the tokens are not built yet.

    ``repeatable`` is set if a request like this one may be answered by a plan (see ``plans`` and
    ``user_plans``).
    """

    context: GrantContext
    family: RefreshFamily | None = None
    repeatable: Repeatable | None = None


Stage = TokenRequest | AuthenticatedRequest | Granted


class Grant(Protocol):
    """The module of a grant, as in ``endpoint.GRANTS``."""

    @property
    def PARAMETERS(self) -> frozenset[str]:  # noqa: N802 - a constant of the module
        """The parameters that the grant reads, without those of client authentication."""

    @property
    def FLOW(self) -> Any:  # noqa: N802 - a constant of the module
        """The class of oauthlib for this grant."""

    @property
    def EVENT(self) -> Event:  # noqa: N802 - a constant of the module
        """The key of the audit entries of this grant."""

    def find_client(self, request: TokenRequest, client_id: str, /) -> FoundClient | None:
        """Return the client with this id, and the code or token that it presents."""

    def handle(self, request: AuthenticatedRequest, /) -> Granted:
        """Decide what is granted, and store it. oauthlib's checks have passed.

        Raises:
            OAuthError: nothing is granted.

        """


class UserGrant(Grant, Protocol):
    """The module of a grant for users, whose requests may be answered by plans (see ``user_plans``)."""

    def find_known(self, request: TokenRequest, known: KnownApplication, /) -> Work[FoundClient | None]:
        """Return the code or token that a request presents, with its client, the known application.

        Return None if it was not issued to this application, or if the application or its secret has changed.
        """

    def grant_if_free(self, request: AuthenticatedRequest, /) -> Work[Granted | None]:
        """Do what all steps do after they have authenticated the client, oauthlib's checks included.

        Return None, with nothing written, if the request must pass all steps. This never waits for another
        request.

        Raises:
            OAuthError: nothing is granted. Nothing was written.
            SigningKey.DoesNotExist: the signing key was deleted. Nothing was written.

        """
