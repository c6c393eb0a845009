"""GET /healthz, /readyz and /metrics: what machines ask of this server, at the root alone."""

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


def of_the_server(view: View) -> View:
    """Answer at the root, never below a tenant, and let nobody keep the answer."""

    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        if get_script_prefix() != "/":
            raise Http404
        response = view(request)
        response["Cache-Control"] = "no-store"
        return response

    return csrf_exempt(require_safe(answer))


@of_the_server
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers. Nothing else is asked: a restart would mend nothing else."""
    return JsonResponse({"status": "ok"})


@of_the_server
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether people can be sent here: 503 names what is missing."""
    failures = health.failures()
    if failures:
        return JsonResponse(
            {"status": "not ready", "failures": failures}, status=HTTPStatus.SERVICE_UNAVAILABLE
        )
    return JsonResponse({"status": "ok"})


@of_the_server
def prometheus(request: HttpRequest) -> HttpResponse:
    """Show the figures to who has METRICS_TOKEN; without one set there is nothing here."""
    if not settings.METRICS_TOKEN:
        raise Http404
    shown = request.headers.get("Authorization", "")
    if not secrets.compare_digest(shown.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()):
        response = HttpResponse(status=HTTPStatus.UNAUTHORIZED, content_type="text/plain")
        response["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)
