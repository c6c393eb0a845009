"""The client credentials grant (RFC 6749 section 4.4): an application gets a token of its own."""

from typing import Final

from oauthlib.oauth2 import ClientCredentialsGrant

from audit import log
from audit.events import Event
from database import batching
from oidc.provider import application_target, client_authentication
from oidc.provider.grant_context import GrantContext
from oidc.provider.token import signing_key
from oidc.provider.token.issue_entry import new_entry
from oidc.provider.token.request import (
    AuthenticatedRequest,
    FoundClient,
    Granted,
    Repeatable,
    TokenRequest,
)

PARAMETERS: Final = frozenset(("scope", "resource", "organization_id"))
FLOW: Final = ClientCredentialsGrant
EVENT: Final = Event.TOKEN_EXCHANGE


def find_client(request: TokenRequest, client_id: str) -> FoundClient | None:
    """Return the client with this id."""
    client = client_authentication.find(client_id)
    return FoundClient(client) if client else None


def handle(request: AuthenticatedRequest) -> Granted:
    """Grant an application the scopes that its roles have now.

    Raises:
        errors.InvalidRequest: the resource is unknown, or the scopes belong to several resources.
        errors.UnauthorizedClient: the application is not bound to the organization.
        errors.TooManyScopes: the scopes are too many for a token.
        SigningKey.DoesNotExist: the signing key was deleted; nothing was granted.

    """
    parsed = request.parsed
    context = GrantContext(
        application=request.application,
        access_token_key_id=request.client.default_key_id,
        scopes=(),
        target=application_target.resolve(
            request.client,
            parsed["scope"].split(),
            resource=parsed["resource"],
            organization_id=parsed["organization_id"],
        ),
    )
    context = batching.run(signing_key.reserve(context))
    entry = new_entry(request, context)
    log.write(entry)
    return Granted(context, repeatable=Repeatable(request, entry))
