"""Functions for all social providers: client credentials, the code exchange, and its test."""

import base64
import secrets
from typing import Final
from urllib.parse import quote

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Endpoints, Field

# The errors of client authentication of RFC 6749 section 5.2, and GitHub's own.
_CLIENT_REFUSED: Final = {"invalid_client", "unauthorized_client", "incorrect_client_credentials"}
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500


def client_fields() -> tuple[Field, ...]:
    """Return the fields for the client credentials."""
    return (
        Field(
            name="client_id",
            rule=rules.ascii_text,
            description=gettext_noop("The client ID of the application registered at the provider"),
        ),
        Field(name="client_secret", secret=True, description=gettext_noop("The secret of that application")),
    )


def scope_field(default: str) -> Field:
    """Return the field for the requested scopes."""
    return Field(
        name="scope",
        required=False,
        default=default,
        rule=rules.ascii_text,
        description=gettext_noop("The requested scopes, separated by spaces"),
    )


def exchange(
    endpoints: Endpoints, config: Config, *, code: str, verifier: str, redirect_uri: str
) -> web.Response:
    """Send the token request for a code (RFC 6749 section 4.1.3) and return the response.

    Raises:
        ProviderError: the provider does not respond.

    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }
    headers = {}
    build = endpoints.build_client_secret
    secret = build(config) if build else config["client_secret"]
    if endpoints.basic_auth:
        pair = f"{quote(config['client_id'], safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": config["client_id"], "client_secret": secret}
    return web.post_form(endpoints.token, form, headers)


def get_with_token(url: str, access_token: str) -> web.Response:
    """Send a request with a bearer token (RFC 6750 section 2.1) and return the response.

    Raises:
        ProviderError: the provider does not respond.

    """
    return web.get(url, {"Authorization": f"Bearer {access_token}"})


def display_name_field() -> Field:
    """Return the field for the name of the provider on pages."""
    return Field(
        name="display_name",
        required=False,
        rule=rules.name,
        description=gettext_noop("The provider's name on the sign-in button"),
    )


def check_client(
    endpoints: Endpoints,
    config: Config,
    redirect_uri: str,
    *,
    refusal: str = gettext_noop("the provider does not accept this client_id and client_secret"),
) -> None:
    """Check the client credentials by redeeming a made-up code. ``refusal`` is the message of a refusal.

    Providers check the credentials first, so a provider that refuses the code has accepted the credentials.

    Raises:
        ProviderError: the provider refuses the credentials, or the URL is not a token endpoint.

    """
    response = exchange(
        endpoints,
        config,
        code=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(32),
        redirect_uri=redirect_uri,
    )
    error = response.json().get("error")
    if response.status == _UNAUTHORIZED or (isinstance(error, str) and error in _CLIENT_REFUSED):
        raise ProviderError(refusal)
    if not isinstance(error, str) or not error or response.status >= _SERVER_ERROR or _is_missing(response):
        raise ProviderError(
            fill(
                gettext_noop(
                    "the token endpoint responded with HTTP %(status)s: the URL is not a token endpoint"
                ),
                status=response.status,
            )
        )


def _is_missing(response: web.Response) -> bool:
    return response.status in {404, 405} or 300 <= response.status < 400  # noqa: PLR2004
