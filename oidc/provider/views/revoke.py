"""POST /oidc/revoke (RFC 7009)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider import revocation
from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import json_errors, oauth_json
from oidc.provider.errors import InvalidRequest, WrongMethod
from oidc.provider.parameters import form


@csrf_exempt
@cross_origin("POST", allows_credentials=True)
@json_errors
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke a token. If the client authenticates, the response is 200 for unknown tokens too."""
    if request.method != "POST":
        raise WrongMethod("POST")
    parameters = form(request)
    application = revocation.authenticate_client(request.META.get("HTTP_AUTHORIZATION"), parameters.values)
    if not parameters["token"]:
        raise InvalidRequest("The parameter token is missing.")
    revocation.revoke(parameters["token"], application)
    return oauth_json({})
