"""GET and POST /oidc/userinfo (OpenID Connect Core 5.3)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider import bearer, tokens
from oidc.provider import userinfo as userinfo_claims
from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import bearer_errors, oauth_json
from oidc.provider.errors import MissingToken, WrongMethod
from oidc.provider.parameters import FORM_TYPE, InvalidParameters, form


@csrf_exempt
@cross_origin("GET, POST")
@bearer_errors
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return the claims about the user that the access token releases."""
    if request.method not in {"GET", "HEAD", "POST"}:
        raise WrongMethod("GET", "POST")
    principal = bearer.authenticate(_get_token(request))
    told = userinfo_claims.build(principal)
    if principal.userinfo_alg:
        return _signed(told, principal)
    return oauth_json(told)


def _signed(body: dict[str, object], principal: bearer.Principal) -> HttpResponse:
    """Return the claims as a JWT, which the application has asked for (OpenID Connect Core 5.3.2)."""
    token = tokens.build_userinfo_token(
        body, client_id=principal.claims["client_id"], algorithm=principal.userinfo_alg
    )
    return HttpResponse(
        token, content_type="application/jwt", headers={"Cache-Control": "no-store", "Pragma": "no-cache"}
    )


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
        scheme, _, credentials = header.partition(" ")
        token = credentials.strip() if scheme.lower() == "bearer" else ""
        if token and _get_body_token(request):
            raise InvalidParameters("The access token came in the header and in the body.")
    if not token:
        raise MissingToken
    return token


def _get_body_token(request: HttpRequest) -> str:
    if request.method != "POST" or request.content_type != FORM_TYPE:
        return ""
    return form(request)["access_token"]
