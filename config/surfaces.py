"""Machine surfaces: routes that are served before Django's handler.

A surface returns what the view of its route would return, or None if the request is unusual. Then Django
serves the request. Django also serves all requests if they are logged (``LOG_REQUESTS``) or traced.
"""

import time
from collections.abc import Callable
from functools import cache
from http.client import responses as reasons
from typing import Any, Final

from django.conf import settings
from django.db import close_old_connections
from django.urls import reverse

from config import headers
from database import ids
from identity.core import tenancy
from identity.http.answers import Answer
from identity.tenants import middleware as tenants
from management.observability import metrics
from oidc.provider import userinfo_surface
from oidc.provider.token import endpoint

Environ = dict[str, Any]
# A function of the request and its id, called in the tenant of the request. None: Django must serve it.
Surface = Callable[[Environ, str], Answer | None]

SURFACES: Final[dict[str, Surface]] = {
    "oidc:token": endpoint.repeat,
    "oidc:userinfo": userinfo_surface.serve,
}


@cache
def by_path() -> dict[str, tuple[str, Surface]]:
    """Return the surfaces, each with the name of its route, by path below the tenant."""
    return {reverse(route): (route, surface) for route, surface in SURFACES.items()}


def serve(environ: Environ) -> Answer | None:
    """Return the complete answer of a surface, or None if Django must serve the request."""
    prefix, path = tenants.split_prefix(environ.get("PATH_INFO", ""))
    found = by_path().get(path)
    if found is None or settings.LOG_REQUESTS or settings.TRACING:
        return None
    # Django looks up a tenant that is not cached.
    tenant = tenants.get_cached(prefix.removeprefix("/t/")) if prefix else tenancy.DEFAULT
    return _complete(environ, *found, tenant) if tenant else None


def _complete(environ: Environ, route: str, surface: Surface, tenant: tenancy.ActiveTenant) -> Answer | None:
    started, request_id = time.perf_counter(), ids.new_text()
    close_old_connections()  # as Django does before each request
    with tenancy.using(tenant):
        answer = surface(environ, request_id)
    if settings.DATABASE_POOL:
        close_old_connections()  # returns the connection to the pool
    if answer is None:
        return None
    complete = dict(answer.headers)
    length = None if answer.status in headers.WITHOUT_BODY else len(answer.body)
    headers.add(complete, status=answer.status, request_id=request_id, length=length)
    if settings.METRICS_TOKEN:
        seconds = time.perf_counter() - started
        metrics.count(environ["REQUEST_METHOD"], route, answer.status, seconds)
    return Answer(answer.body, complete, answer.status)


def get_status_line(answer: Answer) -> str:
    """Return the status of an answer as WSGI expects it."""
    return f"{answer.status} {reasons[answer.status]}"
