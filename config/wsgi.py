"""The WSGI application that gunicorn serves."""

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import django
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.urls import ResolverMatch, get_resolver

from config import chunked_bodies
from identity.http import uploads
from identity.users import hashing_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_FAILURE: Final = "gatehouse.failure"  # the key of the exception of a surface
# RFC 2046 section 5.1.1, without the space.
_BOUNDARY: Final = re.compile(r"""\bboundary="?([A-Za-z0-9'()+_,./:=?-]{1,70})""", re.IGNORECASE)


class Handler(WSGIHandler):
    """Django's handler. If a surface has failed, the view fails in the same way, without a second attempt."""

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Return the route of a request.

        Raises:
            Exception: the surface of the route raised it.

        """
        match = super().resolve_request(request)
        if (failure := request.META.get(_FAILURE)) is not None:
            raise failure
        return match


django.setup(set_prefix=False)
from config import surfaces  # noqa: E402 - it needs the apps

_django = Handler()
get_resolver().url_patterns  # noqa: B018 - loads all views before the fork, so workers share their memory
surfaces.by_path()
hashing_process.enable()


def _get_content_type(environ: dict[str, Any]) -> str:
    kind, _, parameters = str(environ.get("CONTENT_TYPE", "")).partition(";")
    kind = kind.strip().lower()
    if kind == "multipart/form-data" and environ.get("PATH_INFO", "").startswith(uploads.SITE):
        boundary = _BOUNDARY.search(parameters)
        return f"{kind}; boundary={boundary[1]}" if boundary else kind
    return kind


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve a request without the parameters of its content type, except the boundary of uploaded files.

    Only UTF-8 is supported. Django would use any ``charset`` that a client names, and fail if it is not a
    text encoding.
    """
    try:
        answer = surfaces.serve(environ)
    except Exception as failure:  # noqa: BLE001 - Django makes and logs the response to any failure
        answer, environ[_FAILURE] = None, failure
    if answer is not None:
        start_response(surfaces.get_status_line(answer), list(answer.headers.items()))
        return () if environ["REQUEST_METHOD"] == "HEAD" else (answer.body,)
    environ["CONTENT_TYPE"] = _get_content_type(environ)
    if chunked_bodies.is_chunked(environ) and not chunked_bodies.read(environ):
        return chunked_bodies.refuse(start_response)
    response = _django(environ, start_response)
    if environ["REQUEST_METHOD"] == "HEAD":
        # RFC 9110 section 9.3.2: the server MUST NOT send content in the response.
        response.close()
        return ()
    return response
