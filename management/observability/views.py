"""GET /healthz, /readyz and /metrics, at the root only."""

import secrets
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import get_script_prefix
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from management.observability import health, metrics

View = Callable[[HttpRequest], HttpResponse]


def root_only(view: View) -> View:
    """Return 404 below a tenant's prefix, and forbid caching."""

    @wraps(view)
    def serve(request: HttpRequest) -> HttpResponse:
        if get_script_prefix() != "/":
            raise Http404
        response = view(request)
        response["Cache-Control"] = "no-store"
        return response

    return csrf_exempt(require_safe(serve))


@root_only
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 while the process responds. The database is not checked: a restart would not fix it."""
    return JsonResponse({"status": "ok"})


@root_only
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 if this server is ready, and otherwise 503 with the failed check."""
    failures = health.failures()
    if failures:
        return JsonResponse(
            {"status": "not ready", "failures": failures}, status=HTTPStatus.SERVICE_UNAVAILABLE
        )
    return JsonResponse({"status": "ok"})


@root_only
def prometheus(request: HttpRequest) -> HttpResponse:
    """Return the metrics if the bearer token is METRICS_TOKEN. Return 404 if METRICS_TOKEN is not set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    authorization = request.headers.get("Authorization", "")
    if not secrets.compare_digest(authorization.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()):
        response = HttpResponse(status=HTTPStatus.UNAUTHORIZED, content_type="text/plain")
        response["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)
