"""The WSGI application that gunicorn serves."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.urls import ResolverMatch, get_resolver

from config.server import chunked_bodies, content_types
from config.server.wsgi_requests import FAILURE, Failure
from identity.users import hashing_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Handler(WSGIHandler):
    """Django's handler. If a surface or the read of a document has failed, the view fails in the same way.

    There is no second attempt.
    """

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Return the route of a request.

        Raises:
            Exception: the surface of the route, or the read of the document, raised it.

        """
        match = super().resolve_request(request)
        if FAILURE in request.META:
            # Nothing here keeps the failure: its traceback refers to the request and, in the frames of the
            # callers, to the connection.
            raise request.META.pop(FAILURE).again()
        return match


django.setup(set_prefix=False)
from config.server import documents, surfaces  # noqa: E402 - they need the apps

_django = Handler()
get_resolver().url_patterns  # noqa: B018 - loads all views before the fork, so workers share their memory
documents.by_path()
surfaces.by_path()
hashing_process.enable()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve a request, by its surface or by Django."""
    try:
        answer = surfaces.serve(environ)
    except Exception as failure:  # noqa: BLE001 - Django makes and logs the response to any failure
        answer, environ[FAILURE] = None, Failure.of(failure)
    if answer is not None:
        start_response(answer.status_line, list(answer.headers.items()))
        return () if environ["REQUEST_METHOD"] == "HEAD" else (answer.body,)
    environ["CONTENT_TYPE"] = content_types.clean(environ)
    if chunked_bodies.is_chunked(environ) and not chunked_bodies.read(environ):
        return chunked_bodies.refuse(start_response)
    response = _django(environ, start_response)
    if environ["REQUEST_METHOD"] == "HEAD":
        # RFC 9110 section 9.3.2: the server MUST NOT send content in the response.
        response.close()
        return ()
    return response
