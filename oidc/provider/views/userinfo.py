"""GET and POST /oidc/userinfo (OpenID Connect Core 5.3)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from database import batching
from oidc.provider import userinfo_surface
from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import bearer_errors
from oidc.provider.errors import MissingToken, WrongMethod
from oidc.provider.parameters import FORM_TYPE, InvalidParameters, form


@csrf_exempt
@cross_origin("GET, POST")
@bearer_errors
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return the claims about the user that the access token releases."""
    if request.method not in userinfo_surface.METHODS:
        raise WrongMethod("GET", "POST")
    if (refusal := request.META.get(userinfo_surface.REFUSAL)) is not None:
        raise refusal
    answer = batching.run(userinfo_surface.build_answer(_get_token(request)))
    return HttpResponse(answer.body, headers=dict(answer.headers))


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
        token = userinfo_surface.get_header_token(header)
        if token and _get_body_token(request):
            raise InvalidParameters("The access token came in the header and in the body.")
    if not token:
        raise MissingToken
    return token


def _get_body_token(request: HttpRequest) -> str:
    if request.method != "POST" or request.content_type != FORM_TYPE:
        return ""
    return form(request)["access_token"]
