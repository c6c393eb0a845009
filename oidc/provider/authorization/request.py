"""The authorization request, and the answer that goes back to the client."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from identity.core import tenancy
from oidc.applications.models import Application
from oidc.provider import claims_request, id_token_hint, parameters, scopes
from oidc.provider.authorization import engine
from oidc.provider.authorization.checks import PARAMETERS, ClientRequest, SentRequest
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.errors import OAuthError
from oidc.provider.parameters import Parameters

_UNRESERVED: Final = "!$'()*,-./:;?@_~"  # of RFC 3986 section 3.4, what forms do not read otherwise


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
    further_scopes: tuple[str, ...]
    resource: str
    organization_id: str

    @property
    def scope(self) -> str:
        """The scope as it is kept: identity scopes, then every other that was asked for."""
        return " ".join(self.scopes + self.further_scopes)

    def answer(self, **parameters: str) -> str:
        """Return the address that carries an answer to the client."""
        return _address(self.redirect_uri, self.response_mode, self.state, parameters)


class ErrorRedirect(Exception):
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
        Unanswerable: the client or its redirect URI is bad.
        ErrorRedirect: anything else is.

    """
    try:
        return _build_authorization(engine.run(SentRequest(sent, too_long, application)))
    except OAuthError as error:
        raise ErrorRedirect(_refusal(sent, error)) from None


def to_stored(query: str) -> str:
    """Return the part of a query that counts, encoded as briefly as can be: rows of requests are small.

    Only for a query that ``validate`` let pass: it has none of its parameters twice. Of an ID token
    it has no more than whom it names: a copy of the database holds nobody's tokens.
    """
    pairs = parameters.decode(query).only(PARAMETERS)
    brief = [
        (name, id_token_hint.to_stored(text) if name == "id_token_hint" and text else text)
        for name, text in pairs
    ]
    return urlencode(brief, quote_via=quote, safe=_UNRESERVED)


def _build_authorization(request: ClientRequest) -> Authorization:
    sent, application = request.sent, request.application
    granted = scopes.known(sent["scope"])
    if "refresh_token" not in application.grant_types and scopes.OFFLINE_ACCESS in granted:
        granted.remove(scopes.OFFLINE_ACCESS)
    return Authorization(
        application=application,
        redirect_uri=sent["redirect_uri"],
        scopes=tuple(granted),
        state=request.get("state"),
        response_mode=sent["response_mode"] or "query",
        nonce=sent["nonce"],
        code_challenge=sent["code_challenge"],
        prompt=frozenset(sent["prompt"].split()),
        max_age=int(sent["max_age"]) if sent["max_age"] else None,
        id_token_hint=sent["id_token_hint"],
        login_hint=sent["login_hint"],
        ui_locales=sent["ui_locales"],
        claims=claims_request.from_document(claims_request.parse(sent["claims"]) if sent["claims"] else {}),
        further_scopes=tuple(name for name in sent["scope"].split() if name not in scopes.IDENTITY_SCOPES),
        resource=sent["resource"],
        organization_id=sent["organization_id"],
    )


def _refusal(sent: Parameters, error: OAuthError) -> str:
    parameters = {"error": error.code, "error_description": error.description}
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
