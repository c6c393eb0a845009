"""What is known of a token request after each of its steps (see ``endpoint``): one frozen value per step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from audit.events import Event
from oidc.grants.models import RefreshFamily
from oidc.provider.client_authentication import Client
from oidc.provider.grant_context import GrantContext


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token request that was parsed. ``parameters`` are those that its grant reads, each with a value.

    ``may_use_cache``: the client may come from ``client_cache``.
    """

    grant_type: str
    grant: "Grant"
    parameters: Mapping[str, str]
    authorization: str | None
    may_use_cache: bool = True

    def __getitem__(self, name: str) -> str:
        """Return a parameter, empty if it was not sent."""
        return self.parameters.get(name, "")


@dataclass(frozen=True, slots=True)
class FoundClient:
    """The client with the claimed id, and what it presents: both are read in one query, and unproven."""

    client: Client
    presented: object = None
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class AuthenticatedClient:
    """A token request that has passed client authentication.

    ``is_proven`` is true if the client sent a valid secret; a public client may send only its id.
    ``presented`` is the code or refresh token that was found with the client; only the grant's module
    reads it.
    """

    request: TokenRequest
    client: Client
    presented: object
    is_proven: bool
    is_cached: bool


@dataclass(frozen=True, slots=True)
class Granted:
    """What a token request is granted. It is written down; the tokens are not made yet."""

    context: GrantContext
    family: RefreshFamily | None = None


Stage = TokenRequest | AuthenticatedClient | Granted


class Grant(Protocol):
    """The module of a grant. ``endpoint.GRANTS`` names each."""

    @property
    def PARAMETERS(self) -> frozenset[str]:  # noqa: N802 - a constant of the module
        """The parameters that the grant reads besides those of client authentication."""

    @property
    def FLOW(self) -> Any:  # noqa: N802 - a constant of the module
        """The class of oauthlib that calls the steps of this grant, and its own checks between them."""

    @property
    def EVENT(self) -> Event:  # noqa: N802 - a constant of the module
        """The key of the audit entries of requests for this grant."""

    def find_client(self, request: TokenRequest, client_id: str, /) -> FoundClient | None:
        """Return the client with this id, together with the code or token that it presents."""

    def handle(self, client: AuthenticatedClient, /) -> Granted:
        """Decide what is granted and write it down, once oauthlib's checks have passed.

        Raises:
            OAuthError: nothing is granted.

        """
