"""Surfaces: the routes of machines that are served before Django's handler.

A surface is a generator that yields its statements (see ``database.batching``). A surface returns what the
view of its route would return, or None for an unusual request, which Django then serves. Django also serves
all requests if they are logged (``LOG_REQUESTS``) or traced.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.urls import reverse

from config import headers
from config.server.batches import Deferred
from config.server.checked_database import checked_database
from config.server.wsgi_requests import FAILURE, Failure, is_arriving
from database import batching, ids
from database.batching import Task, Work
from identity.core import tenancy
from identity.http.answers import Answer
from identity.tenants import middleware as tenants
from management.observability import metrics
from oidc.provider import userinfo_surface
from oidc.provider.token import endpoint

TRIED: Final = "gatehouse.tried"  # the key of a request whose surface was tried already

Environ = dict[str, Any]

Finish = Callable[[Sequence[Answer | Deferred | None]], None]
# Called with the request and its id, in the tenant of the request. None means that Django must serve it.
Surface = Callable[[Environ, str], Work[Answer | None]]

SURFACES: Final[dict[str, Surface]] = {
    "oidc:token": endpoint.answer_by_plan,
    "oidc:userinfo": userinfo_surface.serve,
}


@dataclass(frozen=True, slots=True)
class Found:
    """The surface of a request, the name of its route, and its tenant."""

    route: str
    surface: Surface
    tenant: tenancy.ActiveTenant


@cache
def by_path() -> dict[str, tuple[str, Surface]]:
    """Return the surfaces, each with the name of its route, by path below the tenant."""
    return {reverse(route): (route, surface) for route, surface in SURFACES.items()}


@cache
def _get_ends() -> tuple[bytes, ...]:
    return tuple(path.encode() for path in by_path())


def may_match(path: bytes) -> bool:
    """Return whether a path, as it was sent, ends as that of a surface does."""
    return path.endswith(_get_ends())


def find(environ: Environ) -> Found | None:
    """Return the surface that a request asks for, or None if Django must serve it."""
    prefix, path = tenants.split_prefix(environ.get("PATH_INFO", ""))
    found = by_path().get(path)
    if found is None or settings.LOG_REQUESTS or settings.TRACING or environ.get(TRIED):
        return None
    # Django looks up a tenant that is not cached.
    tenant = tenants.get_cached(prefix.removeprefix("/t/"))
    return Found(*found, tenant) if tenant else None


def find_for_batch(environ: Environ) -> Found | None:
    """Return what ``find`` returns, but None if a thread may have to wait for the body of the request."""
    return None if is_arriving(environ["wsgi.input"]) else find(environ)


def serve(environ: Environ) -> Answer | None:
    """Return the complete answer of a surface, or None if Django must serve the request."""
    found = find(environ)
    if found is None:
        return None
    with checked_database():
        return batching.run(_serve(environ, found))


def serve_batch(requests: Sequence[tuple[Environ, Found]]) -> list[Answer | None]:
    """Return the complete answers of surfaces, in the order of the requests.

    A request without an answer must be served by itself: by Django if its surface has no answer, or by its
    surface if it was undone because of another request.
    """
    for environ, _ in requests:
        environ[TRIED] = True  # if the batch fails as a whole, no surface does anything twice
    with checked_database():
        tasks = batching.run_batch([_serve(environ, found) for environ, found in requests])
    return [_get_answer(environ, task) for (environ, _), task in zip(requests, tasks, strict=True)]


def start_batch(requests: Sequence[tuple[Environ, Found]], execute: batching.Execute, finish: Finish) -> None:
    """Serve requests as ``serve_batch`` does, in an event loop and without waiting.

    ``finish`` gets the answers, or ``Deferred.TO_THREAD`` for a request whose surface has to wait.
    """
    for environ, _ in requests:
        environ[TRIED] = True
    works = [_serve(environ, found) for environ, found in requests]
    batching.start_batch(works, execute, lambda tasks: finish(_get_answers_in_loop(requests, tasks)))


def _get_answers_in_loop(
    requests: Sequence[tuple[Environ, Found]], tasks: Sequence[Task[Answer | None]]
) -> list[Answer | Deferred | None]:
    pairs = zip(requests, tasks, strict=True)
    return [_get_answer_in_loop(environ, task) for (environ, _), task in pairs]


def _get_answer_in_loop(environ: Environ, task: Task[Answer | None]) -> Answer | Deferred | None:
    if task.needs_thread:
        del environ[TRIED]
        return Deferred.TO_THREAD
    return _get_answer(environ, task)


def _get_answer(environ: Environ, task: Task[Answer | None]) -> Answer | None:
    try:
        answer = task.get_result()
    except batching.RolledBack:
        del environ[TRIED]
        return None
    except Exception as failure:  # noqa: BLE001 - Django makes and logs the response to any failure
        answer, environ[FAILURE] = None, Failure.of(failure)
    return answer


def _serve(environ: Environ, found: Found) -> Work[Answer | None]:
    started, request_id = time.perf_counter(), ids.new_text()
    with tenancy.using(found.tenant):
        answer = yield from found.surface(environ, request_id)
    if answer is None:
        return None
    if settings.METRICS_TOKEN:
        seconds = time.perf_counter() - started
        metrics.count(environ["REQUEST_METHOD"], found.route, answer.status, seconds)
    return headers.complete(answer, request_id)
