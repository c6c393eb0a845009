"""The authorization request, and the answer that goes back to the client."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from oauthlib.common import Request
from oauthlib.oauth2 import FatalClientError, InvalidRequestError, OAuth2Error

from identity.core import tenancy
from oidc.applications.models import Application
from oidc.provider import claims_request, id_token_hint, parameters, scopes, server
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.parameters import Parameters

_NAMES: Final = frozenset(
    (
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method", "prompt", "max_age", "id_token_hint", "login_hint"),
        *("ui_locales", "claims", "display", "acr_values", "request", "request_uri", "resource"),
        "organization_id",
    )
)


_UNRESERVED: Final = "!$'()*,-./:;?@_~"  # of RFC 3986 section 3.4, what forms do not read otherwise

# Without one of these a refusal cannot go back to the client, or not as it has to.
_ADDRESSING: Final = frozenset(("client_id", "redirect_uri", "state"))


@dataclass(frozen=True, slots=True)
class Authorization:
    """An authorization request that may go on."""

    application: Application
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str | None
    response_mode: str
    nonce: str
    code_challenge: str
    prompt: frozenset[str]
    max_age: int | None
    id_token_hint: str
    login_hint: str
    ui_locales: str
    claims: ClaimsRequest
    words: tuple[str, ...]
    resource: str
    organization_id: str

    @property
    def scope(self) -> str:
        """The scope as it is kept: identity scopes, then every other word that was asked for."""
        return " ".join(self.scopes + self.words)

    def answer(self, **parameters: str) -> str:
        """Return the address that carries an answer to the client."""
        return _address(self.redirect_uri, self.response_mode, self.state, parameters)


class Unanswerable(Exception):
    """The client or its redirect URI is bad: tell the person, and redirect nowhere."""


class Refused(Exception):
    """The request is refused, and the client is told at its redirect URI."""

    def __init__(self, location: str) -> None:
        self.location = location
        super().__init__(location)


def validate(
    sent: Parameters, *, too_long: str = "", application: Application | None = None
) -> Authorization:
    """Return the authorization that was asked for. ``too_long`` names a parameter that was left out for it.

    ``application`` is one that was read a moment ago: if it is the one that asks, it is not read again.

    Raises:
        Unanswerable: client or redirect URI are bad, or what is too long.
        Refused: anything else is.

    """
    if sent.repeated & {"client_id", "redirect_uri"}:
        raise Unanswerable("client_id and redirect_uri must each be sent once.")
    if too_long in _ADDRESSING or (too_long and too_long not in _NAMES):
        raise Unanswerable("The request is too long.")
    try:
        request = server.authorization_request(sent.only(_NAMES), application)
        if sent.repeated & _NAMES:
            # RFC 6749 section 3.1: parameters MUST NOT be included more than once.
            raise InvalidRequestError(
                description=f"The parameter {min(sent.repeated & _NAMES)} was sent more than once.",
                request=request,
            )
        if too_long:
            raise InvalidRequestError(description=f"The parameter {too_long} is too long.", request=request)
    except FatalClientError as error:
        raise Unanswerable(error.description or error.error) from None
    except OAuth2Error as error:
        raise Refused(_refusal(sent, error)) from None
    return _understood(request)


def kept(query: str) -> str:
    """Return the part of a query that counts, encoded as briefly as can be: rows of requests are small.

    Only for a query that ``validate`` let pass: it has none of its parameters twice. Of an ID token
    it has no more than whom it names: a copy of the database holds nobody's tokens.
    """
    pairs = parameters.decoded(query).only(_NAMES)
    brief = [
        (name, id_token_hint.kept(text) if name == "id_token_hint" and text else text) for name, text in pairs
    ]
    return urlencode(brief, quote_via=quote, safe=_UNRESERVED)


def _understood(request: Request) -> Authorization:
    application: Application = request.client
    granted = scopes.known(request.scope)
    if "refresh_token" not in application.grant_types and scopes.OFFLINE_ACCESS in granted:
        granted.remove(scopes.OFFLINE_ACCESS)
    return Authorization(
        application=application,
        redirect_uri=request.redirect_uri,
        scopes=tuple(granted),
        state=request.state,
        response_mode=request.response_mode or "query",
        nonce=request.nonce or "",
        code_challenge=request.code_challenge or "",
        prompt=frozenset((request.prompt or "").split()),
        max_age=int(request.max_age) if request.max_age else None,
        id_token_hint=request.id_token_hint or "",
        login_hint=request.login_hint or "",
        ui_locales=request.ui_locales or "",
        claims=claims_request.understood(request.claims or {}),
        words=tuple(word for word in request.scope.split() if word not in scopes.IDENTITY_SCOPES),
        resource=request.resource or "",
        organization_id=getattr(request, "organization_id", ""),
    )


def _refusal(sent: Parameters, error: OAuth2Error) -> str:
    parameters = {"error": error.error, "error_description": error.description or error.error}
    return _address(sent["redirect_uri"], sent["response_mode"], sent.values.get("state"), parameters)


def _address(uri: str, mode: str, state: str | None, parameters: dict[str, str]) -> str:
    """Add the answer to the redirect URI, which keeps its own query as it was registered."""
    if state is not None:
        parameters["state"] = state
    # RFC 9207 section 2: on success and on error alike.
    parameters["iss"] = tenancy.active().issuer
    if mode == "fragment":
        return f"{uri}#{urlencode(parameters)}"
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(parameters)}"
