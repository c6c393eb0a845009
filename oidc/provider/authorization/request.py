"""The validated authorization request, and the URL of the response to the client."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from oidc.applications.models import Application
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest
from oidc.provider import claims_request, id_token_hint, parameters, scopes
from oidc.provider.authorization import engine, response
from oidc.provider.authorization.checks import PARAMETERS, ClientRequest, SentRequest
from oidc.provider.authorization.response import ClientResponse, Refused
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.errors import OAuthError
from oidc.provider.parameters import Parameters

_UNENCODED: Final = "!$'()*,-./:;?@_~"  # allowed in a query (RFC 3986 section 3.4), and not special in a form


@dataclass(frozen=True, slots=True)
class Authorization:
    """An authorization request that has passed all checks."""

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
    # The token names the first of these that the sign-in satisfies.
    acr_values: tuple[str, ...] = ()
    essential_acr_values: tuple[str, ...] = ()
    wished_acr_values: tuple[str, ...] = ()

    @property
    def scope(self) -> str:
        """All requested scopes: the identity scopes, then the others."""
        return " ".join(self.scopes + self.further_scopes)

    def build_code_response(self, code: str) -> ClientResponse:
        """Return the response with a code."""
        return response.build(self.redirect_uri, self.response_mode, self.state, {"code": code})

    def build_error_response(self, error: OAuthError) -> ClientResponse:
        """Return the response with an error."""
        return response.build(self.redirect_uri, self.response_mode, self.state, _get_parameters(error))


def validate(
    sent: Parameters, *, too_long: str = "", application: Application | None = None, is_trial: bool = False
) -> Authorization:
    """Return a request that has passed all checks.

    ``too_long`` is the name of a parameter that was removed because of its length. ``application`` saves
    reading the application again, if it is the one that ``client_id`` names. ``is_trial`` is never set for
    what a client or a browser sends.

    Raises:
        Unanswerable: the client or its redirect URI is invalid.
        Refused: another check failed.

    """
    try:
        return _build_authorization(engine.run(SentRequest(sent, too_long, application, is_trial)))
    except OAuthError as error:
        raise Refused(_build_error_response(sent, error)) from None


def validate_stored(pending: AuthorizationRequest) -> Authorization:
    """Return a pending request, validated again. If an error can be sent to the client, the request ends.

    Raises:
        Unanswerable: the application changed, and its redirect URI is no longer registered.
        Refused: the application or the resource changed, and another check failed.

    """
    try:
        return validate(
            parameters.decode(pending.query), application=pending.application, is_trial=pending.is_test
        )
    except Refused:
        requests.finish(pending)
        raise


def to_stored(sent: Parameters) -> str:
    """Return the known parameters of a valid request as a query, in few characters to keep rows small.

    An ID token is replaced by its subject, so that a copy of the database contains no tokens.
    """
    pairs = sent.select(PARAMETERS)
    stored = [
        (name, id_token_hint.to_stored(text) if name == "id_token_hint" and text else text)
        for name, text in pairs
    ]
    return urlencode(stored, quote_via=quote, safe=_UNENCODED)


def _build_authorization(request: ClientRequest) -> Authorization:
    sent, application = request.sent, request.application
    document = claims_request.parse(sent["claims"]) if sent["claims"] else {}
    granted = scopes.get_identity_scopes(sent["scope"])
    if "refresh_token" not in application.grant_types and scopes.OFFLINE_ACCESS in granted:
        granted.remove(scopes.OFFLINE_ACCESS)
    return Authorization(
        application=application,
        redirect_uri=sent["redirect_uri"],
        scopes=tuple(granted),
        state=request.get("state"),
        response_mode=sent["response_mode"],
        nonce=sent["nonce"],
        code_challenge=sent["code_challenge"],
        prompt=frozenset(sent["prompt"].split()),
        max_age=int(sent["max_age"]) if sent["max_age"] else application.default_max_age,
        id_token_hint=sent["id_token_hint"],
        login_hint=sent["login_hint"],
        ui_locales=sent["ui_locales"],
        claims=claims_request.from_document(document),
        further_scopes=scopes.get_further_scopes(sent["scope"]),
        resource=sent["resource"],
        organization_id=sent["organization_id"],
        **_get_acr_values(request, document),
    )


def _get_acr_values(request: ClientRequest, document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the values of ``acr``: all of them in order, those that are demanded, and the wishes.

    The value that the application requires is the last. If the request has no values, the application's
    default values count.
    """
    application = request.application
    sent, claimed = request.sent["acr_values"].split(), claims_request.get_acr_values(document)
    essential = claims_request.get_essential_acr_values(document) or []
    wished = sent if essential else [*sent, *claimed]
    if not (sent or claimed):
        wished = application.default_acr_values
    required = [application.required_acr] if application.required_acr else []
    return {
        "acr_values": (*wished, *essential, *required),
        "essential_acr_values": tuple(essential),
        "wished_acr_values": tuple(wished),
    }


def _build_error_response(sent: Parameters, error: OAuthError) -> ClientResponse:
    state = sent.values.get("state")
    return response.build(sent["redirect_uri"], sent["response_mode"], state, _get_parameters(error))


def _get_parameters(error: OAuthError) -> dict[str, str]:
    return {"error": error.code, "error_description": error.description}
