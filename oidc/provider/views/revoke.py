"""POST /oidc/revoke (RFC 7009)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider import errors, revocation
from oidc.provider.cors import cross_origin
from oidc.provider.parameters import form


@csrf_exempt
@cross_origin("POST")
@errors.rendered
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke a token. The answer is 200 whatever the token was; only the client must be right."""
    if request.method != "POST":
        raise errors.WrongMethod
    sent = form(request)
    application = revocation.authenticate_client(request.META.get("HTTP_AUTHORIZATION"), sent.values)
    if not sent["token"]:
        raise errors.InvalidRequest("The parameter token is missing.")
    revocation.revoke(sent["token"], application)
    return errors.oauth_json({})
