"""Cross-origin reads (Fetch standard) of the endpoints that applications in browsers call.

Pages on the origin of a registered redirect URI may read responses. Credentials are never allowed, because
these endpoints use no cookies.
"""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from oidc.applications.models import Application

View = Callable[[HttpRequest], HttpResponse]


def cross_origin(methods: str) -> Callable[[View], View]:
    """Let pages on registered origins read the responses of a view, and respond to preflight requests."""

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
                if request.method == "OPTIONS":
                    response["Access-Control-Allow-Methods"] = methods
                    response["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
                    response["Access-Control-Max-Age"] = "600"
            response["Vary"] = "Origin"
            return response

        return wrapped

    return decorate


def _is_registered(origin: str) -> bool:
    if not origin.isascii() or not origin.isprintable():
        return False
    return Application.objects.with_origin(origin).exists()
