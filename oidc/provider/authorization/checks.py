"""The checks of an authorization request: ``CHECKS`` has them all, in the order they are made.

oauthlib calls them (see ``engine``): the second and the third to learn whether the client may be answered at
all, then the others. The checks that it makes itself come after these, and find nothing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from identity.resources.models import Resource
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.provider import claims_request, client_authentication, scopes
from oidc.provider.authorization.refusals import (
    InvalidScope,
    InvalidTarget,
    RequestNotSupported,
    RequestUriNotSupported,
    Unanswerable,
    UnmetAuthenticationRequirements,
    UnsupportedResponseType,
)
from oidc.provider.errors import InvalidRequest, UnauthorizedClient
from oidc.provider.parameters import Parameters

PARAMETERS: Final = frozenset(
    (
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method", "prompt", "max_age", "id_token_hint", "login_hint"),
        *("ui_locales", "claims", "display", "acr_values", "request", "request_uri", "resource"),
        "organization_id",
    )
)
# Without one of these a refusal cannot go back to the client, or not as it has to.
_ADDRESSING: Final = frozenset(("client_id", "redirect_uri", "state"))
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9\-_]{43}")
_MAX_AGE: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class SentRequest:
    """An authorization request as it was sent, without the parameter ``too_long`` if that is set.

    ``known`` is an application that was read a moment ago: it is not read again if it is the one that asks.
    """

    sent: Parameters
    too_long: str = ""
    known: Application | None = None


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """An authorization request whose client is known."""

    sent: Parameters
    too_long: str
    application: Application

    def get(self, name: str) -> str | None:
        """Return a parameter, or nothing if it was not sent."""
        return self.sent.values.get(name)


def check_addressing(request: SentRequest) -> None:
    """Check that the parameters that determine where the response goes can be read.

    Raises:
        Unanswerable: ``client_id`` or ``redirect_uri`` was sent twice; or one of these, ``state`` or an
            unknown parameter is too long.

    """
    if request.sent.repeated & {"client_id", "redirect_uri"}:
        raise Unanswerable("client_id and redirect_uri must each be sent once.")
    if request.too_long in _ADDRESSING or (request.too_long and request.too_long not in PARAMETERS):
        raise Unanswerable("The request is too long.")


def check_client(request: SentRequest) -> ClientRequest:
    """Return the request with its application.

    Raises:
        Unanswerable: there is no such application.

    """
    client_id, application = request.sent["client_id"], request.known
    if application is None or application.client_id != client_id:
        client = client_authentication.find(client_id)
        if client is None:
            raise Unanswerable("Invalid client_id parameter value.")
        application = client.application
    return ClientRequest(request.sent, request.too_long, application)


def check_redirect_uri(request: ClientRequest) -> None:
    """Check that the redirect URI is registered (RFC 9700 section 2.1).

    Raises:
        Unanswerable: it is not.

    """
    application = request.application
    if not redirect_uris.matches(request.sent["redirect_uri"], application.redirect_uris, application.type):
        raise Unanswerable("Mismatching redirect URI.")


def check_repetition(request: ClientRequest) -> None:
    """Check that no parameter comes twice (RFC 6749 section 3.1)."""
    if repeated := request.sent.repeated & PARAMETERS:
        raise InvalidRequest(f"The parameter {min(repeated)} was sent more than once.")


def check_length(request: ClientRequest) -> None:
    """Check that no parameter was left out for its length."""
    if request.too_long:
        raise InvalidRequest(f"The parameter {request.too_long} is too long.")


def check_request_objects(request: ClientRequest) -> None:
    """Check that there is no request object, sent or to be fetched (OpenID Connect Core 3.1.2.6)."""
    if request.get("request"):
        raise RequestNotSupported
    if request.get("request_uri"):
        raise RequestUriNotSupported


def check_response_mode(request: ClientRequest) -> None:
    """Check that the answer goes into the query or the fragment."""
    if request.get("response_mode") not in {None, "", "query", "fragment"}:
        raise InvalidRequest("response_mode must be query or fragment.")


def check_response_type(request: ClientRequest) -> None:
    """Check that a code is asked for."""
    if request.get("response_type") is None:
        raise InvalidRequest("The parameter response_type is missing.")
    if request.get("response_type") != "code":
        raise UnsupportedResponseType


def check_grant_type(request: ClientRequest) -> None:
    """Check that the application may redeem codes."""
    if "authorization_code" not in request.application.grant_types:
        raise UnauthorizedClient("The client may not use authorization codes.")


def check_pkce(request: ClientRequest) -> None:
    """Check the challenge of PKCE. Without a value it is a wrong one rather than none.

    Only S256 is taken (OAuth 2.1 section 4.1.1). SPA and native applications must send a challenge (RFC 9700
    section 2.1.1).
    """
    challenge, method = request.get("code_challenge"), request.get("code_challenge_method")
    if challenge is None:
        if method is not None or request.application.must_use_pkce:
            raise InvalidRequest("The parameter code_challenge is missing.")
        return
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequest("code_challenge must be 43 base64url characters.")
    if method != "S256":
        raise InvalidRequest("code_challenge_method must be S256, the only algorithm that is supported.")


def check_scope(request: ClientRequest) -> None:
    """Check that the request is one of OpenID Connect (Core 3.1.2.1)."""
    if scopes.OPENID not in request.sent["scope"].split(" "):
        raise InvalidScope


def check_prompt(request: ClientRequest) -> None:
    """Check that ``none`` comes alone (OpenID Connect Core 3.1.2.1)."""
    prompt = set(request.sent["prompt"].split())
    if "none" in prompt and len(prompt) > 1:
        raise InvalidRequest("The prompt none goes with no other.")


def check_max_age(request: ClientRequest) -> None:
    """Check that the age is a number of seconds."""
    if request.get("max_age") and not _MAX_AGE.fullmatch(request.sent["max_age"]):
        raise InvalidRequest("max_age must be a number of seconds.")


def check_claims(request: ClientRequest) -> None:
    """Check that the claims can be read, and that no ``acr`` is essential: a sign-in here has none."""
    if not request.get("claims"):
        return
    try:
        document = claims_request.parse(request.sent["claims"])
    except claims_request.Malformed:
        raise InvalidRequest("claims must be a JSON object in which no name comes twice.") from None
    if claims_request.demands_acr(document):
        # Core 5.5.1.1: the OP MUST treat that outcome as a failed authentication attempt.
        raise UnmetAuthenticationRequirements


def check_resource(request: ClientRequest) -> None:
    """Check that the resource is known."""
    resource = request.get("resource")
    if resource is not None and not Resource.objects.filter(indicator=resource).exists():
        raise InvalidTarget


# What these refuse is told to the client, at its redirect URI.
ANSWERED: Final[tuple[Callable[[ClientRequest], None], ...]] = (
    check_repetition,
    check_length,
    check_request_objects,
    check_response_mode,
    check_response_type,
    check_grant_type,
    check_pkce,
    check_scope,
    check_prompt,
    check_max_age,
    check_claims,
    check_resource,
)
CHECKS: Final[tuple[Callable[..., object], ...]] = (
    check_addressing,
    check_client,
    check_redirect_uri,
    *ANSWERED,
)
