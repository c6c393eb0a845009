"""The checks of an authorization request. ``CHECKS`` has all of them in their order.

The first three determine whether the response may go to the redirect URI. ``engine`` calls the first check,
and has oauthlib call the others. The checks that oauthlib makes itself come last, and repeat some of these.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from identity.resources.models import Resource
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.provider import claims_request, client_authentication, parameters, scopes
from oidc.provider.authorization import acr_checks
from oidc.provider.authorization.refusals import (
    InvalidScope,
    InvalidTarget,
    RequestNotSupported,
    RequestUriNotSupported,
    UnsupportedResponseType,
)
from oidc.provider.authorization.response import MODES, is_possible
from oidc.provider.errors import InvalidRequest, Unanswerable, UnauthorizedClient, UnknownRedirectUri
from oidc.provider.parameters import Parameters
from oidc.provider.trial import callback

PARAMETERS: Final = frozenset(
    (
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method", "prompt", "max_age", "id_token_hint", "login_hint"),
        *("ui_locales", "claims", "display", "acr_values", "request", "request_uri", "resource"),
        "organization_id",
    )
)
# The parameters without which an error response cannot be sent to the client.
_ADDRESSING: Final = frozenset(("client_id", "redirect_uri", "state"))
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9\-_]{43}")
_MAX_AGE: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class SentRequest:
    """An authorization request as it was sent.

    ``too_long`` is the name of a parameter that was removed because of its length. ``known`` is an
    application that was read before, and is not read again if ``client_id`` names it. ``is_trial`` says that
    the operators' site has made the request (see ``oidc.provider.trial``).
    """

    sent: Parameters
    too_long: str = ""
    known: Application | None = None
    is_trial: bool = False


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """An authorization request of an existing client."""

    sent: Parameters
    too_long: str
    application: Application
    is_trial: bool = False

    def get(self, name: str) -> str | None:
        """Return a parameter, or None if it was not sent."""
        return self.sent.values.get(name)


def check_addressing(request: SentRequest) -> None:
    """Check that the response can be addressed.

    Raises:
        Unanswerable: ``client_id`` or ``redirect_uri`` was sent twice; or one of these, ``state`` or an
            unknown parameter is too long.

    """
    if request.sent.repeated & {"client_id", "redirect_uri"}:
        raise Unanswerable("client_id and redirect_uri must each be sent once.")
    if request.too_long in _ADDRESSING or (request.too_long and request.too_long not in PARAMETERS):
        subject = parameters.describe(request.too_long)
        raise Unanswerable(f"{subject} makes the request longer than {parameters.LONGEST} characters.")


def check_client(request: SentRequest) -> ClientRequest:
    """Return the request with its application.

    Raises:
        Unanswerable: no application has this ``client_id``.

    """
    client_id, application = request.sent["client_id"], request.known
    if application is None or application.client_id != client_id:
        client = client_authentication.find(client_id)
        if client is None:
            raise Unanswerable("No application has this client_id.")
        application = client.application
    return ClientRequest(request.sent, request.too_long, application, request.is_trial)


def check_redirect_uri(request: ClientRequest) -> None:
    """Check that the redirect URI is registered (RFC 9700 section 2.1) or, for a trial, the trial's own.

    Raises:
        UnknownRedirectUri: it is not.

    """
    application, uri = request.application, request.sent["redirect_uri"]
    if request.is_trial:
        is_known = uri == callback.get_uri(application)
    else:
        is_known = redirect_uris.matches(uri, application.redirect_uris, application.type)
    if not is_known:
        raise UnknownRedirectUri(
            sent=uri, registered=application.redirect_uris, application_id=str(application.pk)
        )


def check_repetition(request: ClientRequest) -> None:
    """Check that no parameter was sent twice (RFC 6749 section 3.1)."""
    if repeated := request.sent.repeated & PARAMETERS:
        raise InvalidRequest(f"{min(repeated)} must be sent only once")


def check_length(request: ClientRequest) -> None:
    """Check that no parameter was removed because of its length, and that ``nonce`` can be stored."""
    if request.too_long:
        raise InvalidRequest(
            f"{request.too_long} makes the request longer than {parameters.LONGEST} characters"
        )
    if len(request.sent["nonce"]) > parameters.LONGEST_NONCE:
        raise InvalidRequest(f"nonce must have at most {parameters.LONGEST_NONCE} characters")


def check_request_objects(request: ClientRequest) -> None:
    """Check that the request has no request object and no reference to one (OpenID Connect Core 3.1.2.6)."""
    if request.get("request"):
        raise RequestNotSupported
    if request.get("request_uri"):
        raise RequestUriNotSupported


def check_response_mode(request: ClientRequest) -> None:
    """Check that the response can be sent in this mode."""
    mode = request.sent["response_mode"]
    if mode and mode not in MODES:
        raise InvalidRequest("response_mode must be query, fragment or form_post")
    if not is_possible(mode, request.sent["redirect_uri"]):
        raise InvalidRequest("response_mode must not be form_post for a private scheme in redirect_uri")


def check_response_type(request: ClientRequest) -> None:
    """Check that the response type is ``code``."""
    if request.get("response_type") is None:
        raise InvalidRequest("response_type is required")
    if request.get("response_type") != "code":
        raise UnsupportedResponseType


def check_grant_type(request: ClientRequest) -> None:
    """Check that the application may redeem codes."""
    if "authorization_code" not in request.application.grant_types:
        raise UnauthorizedClient("response_type code is not allowed for this application")


def check_pkce(request: ClientRequest) -> None:
    """Check the challenge of PKCE. An empty challenge is invalid.

    The method must be S256 (OAuth 2.1 section 4.1.1). SPA and native applications must send a challenge
    (RFC 9700 section 2.1.1).
    """
    challenge, method = request.get("code_challenge"), request.get("code_challenge_method")
    if challenge is None:
        if request.application.must_use_pkce:
            raise InvalidRequest("code_challenge is required for this application")
        if method is not None:
            raise InvalidRequest("code_challenge is required beside code_challenge_method")
        return
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequest("code_challenge must be 43 base64url characters")
    if method != "S256":
        raise InvalidRequest("code_challenge_method must be S256, the only algorithm that is supported")


def check_scope(request: ClientRequest) -> None:
    """Check that the scope contains ``openid`` (OpenID Connect Core 3.1.2.1)."""
    if scopes.OPENID not in request.sent["scope"].split(" "):
        raise InvalidScope


def check_prompt(request: ClientRequest) -> None:
    """Check that the prompt ``none`` has no other value beside it (OpenID Connect Core 3.1.2.1)."""
    prompt = set(request.sent["prompt"].split())
    if "none" in prompt and len(prompt) > 1:
        raise InvalidRequest("prompt must have no other value beside none")


def check_max_age(request: ClientRequest) -> None:
    """Check that ``max_age`` is a number of seconds."""
    if request.get("max_age") and not _MAX_AGE.fullmatch(request.sent["max_age"]):
        raise InvalidRequest("max_age must be a number of seconds")


def check_claims(request: ClientRequest) -> None:
    """Check that ``claims`` is valid, and that a sign-in here can have the ``acr`` that it demands."""
    if not request.get("claims"):
        return
    try:
        document = claims_request.parse(request.sent["claims"])
    except claims_request.Malformed:
        raise InvalidRequest("claims must be a JSON object in which no name comes twice") from None
    acr_checks.check_claims(document)


def check_required_acr(request: ClientRequest) -> None:
    """Check that a sign-in here can have the ``acr`` that the application requires."""
    acr_checks.check_application(request.application)


def check_resource(request: ClientRequest) -> None:
    """Check that the resource exists."""
    resource = request.get("resource")
    if resource is not None and not Resource.objects.filter(indicator=resource).exists():
        raise InvalidTarget


# The checks whose errors are sent to the redirect URI.
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
    check_required_acr,
    check_resource,
)
CHECKS: Final[tuple[Callable[..., object], ...]] = (
    check_addressing,
    check_client,
    check_redirect_uri,
    *ANSWERED,
)
