"""GET and POST /oidc/userinfo (OpenID Connect Core 5.3)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider import bearer, claims, organizations, scopes, tokens
from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import bearer_errors, oauth_json
from oidc.provider.errors import InsufficientScope, MissingToken, WrongMethod
from oidc.provider.parameters import FORM_TYPE, InvalidParameters, form


@csrf_exempt
@cross_origin("GET, POST")
@bearer_errors
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return the claims about the user that the access token releases."""
    if request.method not in {"GET", "HEAD", "POST"}:
        raise WrongMethod("GET", "POST")
    principal = bearer.authenticate(_get_token(request))
    if scopes.OPENID not in principal.scopes:
        raise InsufficientScope(scopes.OPENID)
    user_id = principal.user.pk
    names = claims.get_names(principal.scopes) | tokens.get_requested_claims(principal.claims)
    about_organizations = organizations.get_userinfo_claims(
        user_id, names, token_organization=principal.claims.get("organization_id")
    )
    return oauth_json({"sub": str(user_id)} | claims.get_values(principal.user, names) | about_organizations)


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
