"""Cross-origin reads (Fetch standard) of the endpoints that applications in browsers call.

Pages on the origin of a registered redirect URI may read responses. A view that reads no cookie may allow
requests with credentials, because some libraries always send them (keycloak-js).
"""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from oidc.applications.models import Application

View = Callable[[HttpRequest], HttpResponse]


def cross_origin(methods: str, *, allows_credentials: bool = False) -> Callable[[View], View]:
    """Let pages on registered origins read the responses of a view, and respond to preflight requests.

    ``allows_credentials`` is only for views that read no cookie: the browser then sends its cookies too.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest) -> HttpResponse:
            origin = request.META.get("HTTP_ORIGIN")
            if request.method == "OPTIONS":
                response = HttpResponse(status=204)
                response["Allow"] = f"{methods}, OPTIONS"
            else:
                response = view(request)
            if origin is not None and _is_registered(origin):
                response["Access-Control-Allow-Origin"] = origin
                if allows_credentials:
                    response["Access-Control-Allow-Credentials"] = "true"
                if request.method == "OPTIONS":
                    response["Access-Control-Allow-Methods"] = methods
                    response["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
                    response["Access-Control-Max-Age"] = "600"
            patch_vary_headers(response, ("Origin",))
            return response

        return wrapped

    return decorate


def _is_registered(origin: str) -> bool:
    if not origin.isascii() or not origin.isprintable():
        return False
    return Application.objects.with_origin(origin).exists()
