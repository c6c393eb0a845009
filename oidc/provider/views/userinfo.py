"""GET and POST /oidc/userinfo (OpenID Connect Core 5.3).

``serve`` answers most requests before Django's handler (see ``config.surfaces``), with the functions that the
view calls. The view answers all others, and makes every refusal.
"""

from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from audit import context
from audit.client_address import get_address
from identity.http.answers import Answer
from oidc.provider import bearer, tokens
from oidc.provider import userinfo as userinfo_claims
from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import bearer_errors
from oidc.provider.errors import InsufficientScope, MissingToken, WrongMethod
from oidc.provider.parameters import FORM_TYPE, InvalidParameters, form

_METHODS: Final = frozenset({"GET", "HEAD", "POST"})
# ``cross_origin`` sets ``Vary`` in the responses of the view, too.
_JSON: Final = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "Vary": "Origin",
}
_JWT: Final = _JSON | {"Content-Type": "application/jwt"}
# A request is unusual if it has one of these: Django may replace a cookie, and looks up an origin.
_UNUSUAL: Final = ("HTTP_ORIGIN", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING")
_REFUSAL: Final = "gatehouse.refusal"  # no header has this key


@csrf_exempt
@cross_origin("GET, POST")
@bearer_errors
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return the claims about the user that the access token releases."""
    if request.method not in _METHODS:
        raise WrongMethod("GET", "POST")
    if (refusal := request.META.get(_REFUSAL)) is not None:
        raise refusal
    answer = _build_answer(_get_token(request))
    return HttpResponse(answer.body, headers=dict(answer.headers))


def serve(environ: dict[str, Any], request_id: str) -> Answer | None:
    """Return what the view would return, or None if the view must answer.

    If the token is refused, the view gets the refusal in ``environ`` and raises it, so that the token is
    checked once.
    """
    token = _get_usual_token(environ)
    if not token:
        return None
    ip, user_agent = get_address(environ), environ.get("HTTP_USER_AGENT", "")
    try:
        with context.client(ip=ip, user_agent=user_agent, request_id=request_id):
            return _build_answer(token)
    except (bearer.InvalidBearer, InsufficientScope) as refusal:
        environ[_REFUSAL] = refusal
        return None


def _build_answer(token: str) -> Answer:
    principal = bearer.authenticate(token)
    claims = userinfo_claims.build(principal)
    if not principal.userinfo_alg:
        return Answer(orjson.dumps(claims), _JSON)
    # The application has asked for a JWT (OpenID Connect Core 5.3.2).
    signed = tokens.build_userinfo_token(
        claims, client_id=principal.claims["client_id"], algorithm=principal.userinfo_alg
    )
    return Answer(signed.encode(), _JWT)


def _get_usual_token(environ: dict[str, Any]) -> str:
    """Return the token of the header, or an empty string if there is none or the request is unusual."""
    if (
        environ["REQUEST_METHOD"] not in _METHODS
        or environ["QUERY_STRING"]
        or environ.get("CONTENT_LENGTH", "") not in {"", "0"}
        or any(name in environ for name in _UNUSUAL)
    ):
        return ""
    return _get_header_token(environ.get("HTTP_AUTHORIZATION", ""))


def _get_token(request: HttpRequest) -> str:
    """Return the token of the header or of the body (RFC 6750 section 2), never of the URL.

    Raises:
        MissingToken: neither has a token.
        InvalidParameters: both have a token (a client MUST NOT use more than one method), or the body is
            malformed.

    """
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        token = _get_body_token(request)
    else:
        token = _get_header_token(header)
        if token and _get_body_token(request):
            raise InvalidParameters("The access token came in the header and in the body.")
    if not token:
        raise MissingToken
    return token


def _get_header_token(header: str) -> str:
    scheme, _, credentials = header.partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else ""


def _get_body_token(request: HttpRequest) -> str:
    if request.method != "POST" or request.content_type != FORM_TYPE:
        return ""
    return form(request)["access_token"]
