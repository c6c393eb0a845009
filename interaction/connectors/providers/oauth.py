"""What social providers have in common: our client there, and seeing whether it works."""

import base64
import secrets
from typing import Final
from urllib.parse import quote

from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Endpoints, Field

# "Who are you?", in the words of RFC 6749 section 5.2 and of GitHub.
_CLIENT_REFUSED: Final = {"invalid_client", "unauthorized_client", "incorrect_client_credentials"}
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500


def client_fields() -> tuple[Field, ...]:
    """Return what a provider gave us when we registered there."""
    return (
        Field(name="client_id", rule=rules.ascii_text, description="Of the application registered there"),
        Field(name="client_secret", secret=True, description="The secret of that application"),
    )


def scope_field(default: str) -> Field:
    """Return what we ask for about a person."""
    return Field(
        name="scope",
        required=False,
        default=default,
        rule=rules.ascii_text,
        description="What is asked for about a person, separated by spaces",
    )


def exchange(
    endpoints: Endpoints, config: Config, *, code: str, verifier: str, redirect_uri: str
) -> web.Response:
    """Ask for tokens for a code (RFC 6749 section 4.1.3), in the name of our client.

    Raises:
        ProviderError: nothing could be had from there.

    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }
    headers = {}
    if endpoints.basic_auth:
        pair = f"{quote(config['client_id'], safe='')}:{quote(config['client_secret'], safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": config["client_id"], "client_secret": config["client_secret"]}
    return web.post_form(endpoints.token, form, headers)


def asked(url: str, access_token: str) -> web.Response:
    """Ask a provider's API, in the name of the person (RFC 6750 section 2.1).

    Raises:
        ProviderError: nothing could be had from there.

    """
    return web.get(url, {"Authorization": f"Bearer {access_token}"})


def display_name_field() -> Field:
    """Return what a provider is called on the button that leads to it."""
    return Field(
        name="display_name",
        required=False,
        description="What people call it, as on the button that leads there",
    )


def check_client(endpoints: Endpoints, config: Config, redirect_uri: str) -> None:
    """See whether a provider knows our client, by asking it to redeem a code that never was.

    Client authentication comes first: a provider that complains of the code has accepted
    who we are.

    Raises:
        ProviderError: it has not, or there is no token endpoint at all.

    """
    answer = exchange(
        endpoints,
        config,
        code=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(32),
        redirect_uri=redirect_uri,
    )
    error = answer.json().get("error")
    if answer.status == _UNAUTHORIZED or (isinstance(error, str) and error in _CLIENT_REFUSED):
        raise ProviderError("the provider does not accept this client_id and client_secret")
    if not isinstance(error, str) or not error or answer.status >= _SERVER_ERROR or _is_missing(answer):
        raise ProviderError(
            f"the token endpoint answered with HTTP {answer.status}, as no token endpoint would"
        )


def _is_missing(answer: web.Response) -> bool:
    return answer.status in {404, 405} or 300 <= answer.status < 400  # noqa: PLR2004
