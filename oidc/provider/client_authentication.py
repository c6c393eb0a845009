"""Client authentication (RFC 6749 section 2.3): by HTTP Basic or in the body, never both.

The application type determines whether a secret is required.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from identity.core.tenant_statements import Select, text
from oidc.applications import client_secrets
from oidc.applications.models import Application, ApplicationRole
from oidc.keys.models import SigningKey
from oidc.provider.errors import InvalidClient, InvalidRequest

PARAMETERS: Final = frozenset(("client_id", "client_secret"))
_LONGEST_HEADER: Final = 4096


@dataclass(frozen=True, slots=True)
class Credentials:
    """The client id and secret of a request. The secret is empty if none was sent."""

    client_id: str
    secret: str


@dataclass(frozen=True, slots=True)
class Client:
    """An application, and what else one query reads for the token endpoint.

    ``default_key_id`` is the tenant's default signing key. ``own_key_id`` is the active key of the algorithm
    that the application names for its ID tokens; ``find`` does not set it. Only ``find`` sets ``has_roles``.
    """

    application: Application
    default_key_id: UUID
    own_key_id: UUID | None = None
    has_roles: bool = False

    @property
    def id_token_key_id(self) -> UUID | None:
        """The key of the application's ID tokens."""
        return self.own_key_id if self.application.id_token_signed_response_alg else self.default_key_id


_BY_CLIENT_ID: Final = Select(
    lambda: Application.objects.filter(client_id=text("client_id")).annotate(
        default_key_id=Subquery(SigningKey.objects.default().values("pk")[:1]),
        has_roles=Exists(ApplicationRole.objects.filter(application=OuterRef("pk"))),
    )[:1]
)


def find(client_id: str) -> Client | None:
    """Return the client with this id, or None if no application has it."""
    row: Any = _BY_CLIENT_ID.first(client_id=client_id) if is_well_formed(client_id) else None
    return Client(row, row.default_key_id, has_roles=row.has_roles) if row else None


def is_well_formed(client_id: str) -> bool:
    """Return whether a client can have this id."""
    return client_id.isascii() and client_id.isprintable()


def authenticate(authorization: str | None, parameters: Mapping[str, str]) -> Client:
    """Return the client that a request authenticates.

    Raises:
        InvalidClient: the client is unknown, or its credentials are wrong.
        InvalidRequest: both the header and the body have a secret.

    """
    credentials = read_credentials(authorization, parameters)
    client = find(credentials.client_id)
    if client is None or not is_authentic(client, credentials):
        raise new_invalid_client(authorization, credentials)
    return client


def new_invalid_client(authorization: str | None, credentials: Credentials) -> InvalidClient:
    """Return the error for a request whose client could not be authenticated.

    It says so if ``client_id`` is missing.
    """
    is_missing = authorization is None and not credentials.client_id
    description = "The parameter client_id is missing." if is_missing else ""
    return InvalidClient(description, client_id=credentials.client_id)


def is_authentic(client: Client, credentials: Credentials) -> bool:
    """Return whether the credentials are valid for the client. A public client needs no secret."""
    if not is_secret_checked(client, credentials):
        return True
    return client_secrets.is_valid(client.application, credentials.secret)


def is_secret_checked(client: Client, credentials: Credentials) -> bool:
    """Return whether ``is_authentic`` compares a secret: the client is confidential, or a secret was sent."""
    return client.application.must_present_secret or bool(credentials.secret)


def read_credentials(authorization: str | None, parameters: Mapping[str, str]) -> Credentials:
    """Return the credentials of the Authorization header, or of the body if there is no header.

    Raises:
        InvalidClient: the header is not valid Basic, or the body names another client.
        InvalidRequest: both the header and the body have a secret.

    """
    body = Credentials(parameters.get("client_id", ""), parameters.get("client_secret", ""))
    if authorization is None:
        return body
    basic = _parse_basic(authorization)
    if basic is None:
        raise InvalidClient("The Authorization header is not valid Basic.", client_id=body.client_id)
    if body.secret:
        # RFC 6749 section 2.3: the client MUST NOT use more than one authentication method.
        raise InvalidRequest("Credentials came both in the Authorization header and in the body.")
    if body.client_id and body.client_id != basic.client_id:
        raise InvalidClient(
            "The client_id of the body is not that of the Authorization header.", client_id=body.client_id
        )
    return basic


def _parse_basic(header: str) -> Credentials | None:
    """Return the credentials of an Authorization header, or None if it is not valid Basic."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic" or len(header) > _LONGEST_HEADER:
        return None
    try:
        client_id, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not Base64, or not UTF-8 inside
        return None
    # RFC 6749 section 2.3.1: both are form-urlencoded before they are joined.
    return Credentials(unquote_plus(client_id), unquote_plus(secret)) if colon else None
