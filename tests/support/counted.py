"""The application of production, which notes how many statements a request of each route executes at most.

``tests/budgets.tsv`` says what a route may. Each worker adds a line to a file whenever a request of a
route cost more than any before: so every request of every test is held against the table.
"""

import os
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from django.db import connection
from django.http import HttpRequest
from django.urls import ResolverMatch

from config import wsgi
from identity.core import records, tenancy
from identity.tenants import middleware
from identity.tenants.middleware import split_prefix
from tests.support import compared

FILE = "TEST_STATEMENTS_FILE"
_NOT_COUNTED = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
_most: dict[str, int] = {}
_request = threading.local()


class _Handler(wsgi.Handler):
    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match = super().resolve_request(request)
        _request.route = f"{request.method} /{match.route}"
        return match


def _count(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
    _request.statements += not sql.startswith(_NOT_COUNTED)
    return execute(sql, *more)


def _remove_once(row: Any, event: Any, expected: Any, facts: Any) -> None:
    # A deletion that another request overtook is repeated, which is counted as one.
    _request.statements = _request.__dict__.setdefault("before", _request.statements)
    _remove(row, event, expected, facts)


def _find_uncounted(slug: str) -> tenancy.ActiveTenant:
    # A worker keeps the tenant of an address for seconds, so whether a request reads it is a matter of time.
    before = _request.statements
    try:
        return _find(slug)
    finally:
        _request.statements = before


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if compared.is_compared(environ):
        _request.statements = 0
        return compared.serve(environ, start_response, _counted)
    return _counted(environ, start_response)


def _counted(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    _request.__dict__.clear()
    _request.route, _request.statements = "", 0
    with connection.execute_wrapper(_count):
        answer = wsgi.application(environ, start_response)
    _keep_most()
    return answer


def _keep_most() -> None:
    if _request.route and _request.statements > _most.get(_request.route, -1):
        _most[_request.route] = _request.statements
        with Path(os.environ[FILE]).open("a") as file:
            file.write(f"{_request.route}\t{_request.statements}\n")


def _read_counted(tenant: tenancy.ActiveTenant, get: Callable[[], Any]) -> Any:
    # The worker's loop answers requests for documents itself, and has a thread read them.
    _request.__dict__.clear()
    _request.statements = 0
    routes = _documents.by_path().items()
    path = next(path for path, route in routes if _documents.DOCUMENTS[route] is get)
    _request.route = f"GET {path}"
    with connection.execute_wrapper(_count):
        document = _read(tenant, get)
    _keep_most()
    return document


def _note_route(environ: dict[str, Any]) -> Any:
    answer = _serve(environ)
    if answer is not None:
        path = split_prefix(environ["PATH_INFO"])[1]
        _request.route = f"{environ['REQUEST_METHOD']} {path}"
    return answer


_surfaces: Any = import_module("config.server.surfaces")  # config.wsgi has prepared the apps that it needs
_documents: Any = import_module("config.server.documents")
_read, _documents.read = _documents.read, _read_counted
_serve, _surfaces.serve = _surfaces.serve, _note_route
_surfaces.find_for_batch = lambda _: None  # each request is counted
_remove, records._remove = records._remove, _remove_once
_find, middleware._find = middleware._find, _find_uncounted
wsgi._django = _Handler()
