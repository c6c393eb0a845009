"""Early refusals: the worker's loop refuses requests without a hashing place, before they need a thread.

The response is that of ``config.server.load_shedding``, with the same middleware around it. Threads refuse
the rest: requests with large bodies, and all requests while they are logged (``LOG_REQUESTS``) or traced.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from config.server import chunked_bodies, content_types, load_shedding
from config.server.wsgi_requests import is_arriving
from config.server.wsgi_responses import Whole, build
from identity.http.answers import Answer
from identity.tenants.middleware import split_prefix
from identity.users import passwords
from identity.users.passwords import Place

_SHEDDING: Final = "config.server.load_shedding.LoadSheddingMiddleware"


def admit(environ: dict[str, Any]) -> Whole | Place | None:
    """Return the response to a refused request, the place of an admitted one, or None if none is needed.

    A request that fails here gets None too: it fails again in Django's handler, which logs the failure.
    """
    if environ["REQUEST_METHOD"] != "POST" or settings.LOG_REQUESTS or settings.TRACING:
        return None
    _, path = split_prefix(environ["PATH_INFO"])
    if path not in load_shedding.routes() or is_arriving(environ["wsgi.input"]):
        return None
    try:
        request = _build_request(environ)
        if load_shedding.find_route(request) is None:
            return None
        return passwords.take_place() or _refuse(request)
    except Exception:  # noqa: BLE001 - see above
        return None
    finally:
        environ["wsgi.input"].seek(0)  # for the thread that serves the request


def _build_request(environ: dict[str, Any]) -> WSGIRequest:
    environ["CONTENT_TYPE"] = content_types.clean(environ)
    if chunked_bodies.is_chunked(environ):
        chunked_bodies.read(environ)
    return WSGIRequest(environ)


def _refuse(request: WSGIRequest) -> Whole:
    response: Any = _responder()(request)
    return build(Answer(response.content, dict(response.items()), response.status_code), request.META)


@cache
def _responder() -> Callable[[HttpRequest], HttpResponseBase]:
    """Return the function that refuses a request, wrapped in the middleware above load shedding."""
    respond: Any = load_shedding.refuse
    for name in reversed(settings.MIDDLEWARE[: settings.MIDDLEWARE.index(_SHEDDING)]):
        try:
            respond = import_string(name)(respond)
        except MiddlewareNotUsed:
            continue
    return respond  # type: ignore[no-any-return]
