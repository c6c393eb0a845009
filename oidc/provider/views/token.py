"""POST /oidc/token."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from oidc.provider.cors import cross_origin
from oidc.provider.error_responses import json_errors
from oidc.provider.token import endpoint, engine


@csrf_exempt
@cross_origin("POST", allows_credentials=True)
@json_errors
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code, a refresh token or the client's own credentials for tokens."""
    granted = engine.run(endpoint.parse_request(request))
    answer = endpoint.build_answer(granted)
    endpoint.keep_plan(request, granted, answer)
    return answer
