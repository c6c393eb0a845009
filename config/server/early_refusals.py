"""Early refusals: the worker's loop refuses requests without a hashing place, before they need a thread.

The response is that of ``config.server.load_shedding``, with the same middleware around it. Threads refuse
the rest: requests with large bodies, and all requests while they are logged (``LOG_REQUESTS``) or traced.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed, SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, UnreadablePostError
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
_logger: Final = logging.getLogger(__name__)


def admit(environ: dict[str, Any]) -> Whole | Place | None:
    """Return the response to a refused request, the place of an admitted one, or None if none is needed.

    A request that fails here gets None too. A failure that is the client's fault is repeated in a thread.
    """
    if environ["REQUEST_METHOD"] != "POST" or settings.LOG_REQUESTS or settings.TRACING:
        return None
    _, path = split_prefix(environ["PATH_INFO"])
    if path not in load_shedding.routes() or is_arriving(environ["wsgi.input"]):
        return None
    try:
        request = _build_request(environ)
        if not load_shedding.needs_place(request):
            return None
        return passwords.take_place() or _refuse(request)
    except (SuspiciousOperation, UnreadablePostError):
        return None
    except Exception:
        _logger.exception("the loop could not decide whether to refuse a request, so a thread decides")
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
