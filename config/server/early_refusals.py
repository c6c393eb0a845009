"""Early refusals: the worker's loop refuses requests without a hashing place, before they need a thread.

The response is that of ``config.server.load_shedding``, made once (``overload_answers``). Threads refuse the
rest: requests with large bodies, and all requests while they are logged (``LOG_REQUESTS``) or traced.
"""

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http import UnreadablePostError

from config.server import chunked_bodies, content_types, load_shedding, overload_answers
from config.server.wsgi_requests import is_arriving
from config.server.wsgi_responses import Whole, build
from identity.http.answers import Answer
from identity.tenants.middleware import split_prefix
from identity.users import passwords
from identity.users.passwords import Place

T = TypeVar("T")
_logger: Final = logging.getLogger(__name__)


def admit(environ: dict[str, Any]) -> Whole | Place | None:
    """Return the response to a refused request, the place of an admitted one, or None if none is needed.

    A request that fails here gets None too. A failure that is the client's fault is repeated in a thread.
    """
    if is_arriving(environ["wsgi.input"]):
        return None
    return _decide(environ, lambda request: passwords.take_place() or _refuse(request))


def refuse(environ: dict[str, Any]) -> Answer | None:
    """Return the answer to a request, whose body has arrived, if it needs a place. None is free."""
    return _decide(environ, overload_answers.build)


def _decide(environ: dict[str, Any], decide: Callable[[WSGIRequest], T]) -> T | None:
    """Return what ``decide`` returns for a request that needs a place."""
    if environ["REQUEST_METHOD"] != "POST" or settings.LOG_REQUESTS or settings.TRACING:
        return None
    _, path = split_prefix(environ["PATH_INFO"])
    if path not in load_shedding.routes():
        return None
    try:
        request = _build_request(environ)
        return decide(request) if load_shedding.needs_place(request) else None
    except (SuspiciousOperation, UnreadablePostError):
        return None
    except Exception:
        _logger.exception("the loop could not decide whether to refuse a request, so a thread decides")
        return None
    finally:
        environ["wsgi.input"].seek(0)  # for the thread that serves the request


def _refuse(request: WSGIRequest) -> Whole:
    return build(overload_answers.build(request), request.META)


def _build_request(environ: dict[str, Any]) -> WSGIRequest:
    environ["CONTENT_TYPE"] = content_types.clean(environ)
    if chunked_bodies.is_chunked(environ):
        chunked_bodies.read(environ)
    return WSGIRequest(environ)
