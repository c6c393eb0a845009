"""GET and POST /oidc/userinfo (OpenID Connect Core 5.3)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider import bearer, claims, errors, organizations, scopes, tokens
from oidc.provider.bearer import InvalidBearer, Principal
from oidc.provider.cors import cross_origin
from oidc.provider.parameters import InvalidParameters, form


@csrf_exempt
@cross_origin("GET, POST")
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return the claims about the user that the access token releases."""
    if request.method not in {"GET", "HEAD", "POST"}:
        return errors.oauth_error(
            "invalid_request",
            "The method must be GET or POST.",
            status=405,
            headers={"Allow": "GET, POST, OPTIONS"},
        )
    try:
        token = _get_token(request)
    except InvalidParameters as refused:
        return _challenge("invalid_request", refused.description, refused.status)
    if token is None:
        # RFC 6750 section 3.1: without authentication information, no error code.
        return errors.oauth_error(
            "invalid_token",
            "An access token is needed.",
            status=401,
            headers={"WWW-Authenticate": 'Bearer realm="gatehouse"'},
        )
    try:
        principal = bearer.authenticate(token)
    except InvalidBearer as error:
        return _challenge("invalid_token", str(error), 401)
    if scopes.OPENID not in principal.scopes:
        lacks = "The access token lacks the scope openid."
        return _challenge("insufficient_scope", lacks, 403, scope=scopes.OPENID)
    return errors.oauth_json(_released(principal))


def _released(principal: Principal) -> dict[str, Any]:
    user = principal.user
    names = claims.released(principal.scopes) | tokens.get_requested_claims(principal.claims)
    user_claims = {"sub": str(user.pk)} | claims.about(user, names)
    here = principal.claims.get("organization_id")
    return user_claims | organizations.for_userinfo(user.pk, names, here=here)


def _get_token(request: HttpRequest) -> str | None:
    """Return the token of the header or of the body (RFC 6750 section 2), never of the URL.

    Raises:
        InvalidParameters: both have a token (a client MUST NOT use more than one method), or the body is
            malformed.

    """
    header: str | None = request.META.get("HTTP_AUTHORIZATION")
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        if _in_body(request):
            raise InvalidParameters("The access token came in the header and in the body.")
        return token.strip()
    return _in_body(request)


def _in_body(request: HttpRequest) -> str | None:
    if request.method != "POST" or request.content_type != "application/x-www-form-urlencoded":
        return None
    return form(request)["access_token"] or None


def _challenge(error: str, description: str, status: int, *, scope: str = "") -> HttpResponse:
    """Return a challenge (RFC 6750 section 3); ``scope`` is the required one."""
    needed = f', scope="{scope}"' if scope else ""
    return errors.oauth_error(
        error,
        description,
        status=status,
        headers={
            "WWW-Authenticate": f'Bearer realm="gatehouse", error="{error}", '
            f'error_description="{description}"{needed}'
        },
    )
