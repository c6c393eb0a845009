"""Complete answers to requests without a hashing place.

An answer is made once for each path and language, by the middleware that a refusal in a thread passes. Only
the request id and the prefix of the tenant are new in each refusal.
"""

from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from config.server import load_shedding
from database import ids
from identity.http.answers import Answer
from identity.tenants.middleware import split_prefix
from interaction.pages.language import find_language
from management.observability import metrics

_SHEDDING: Final = "config.server.load_shedding.LoadSheddingMiddleware"
_MEASURING: Final = "management.observability.middleware.MeasuringMiddleware"
_PREFIX: Final = "/t/in-place-of-a-tenant"


class _Made(NamedTuple):
    """An answer with ``_PREFIX`` and the id of the request for which it was made."""

    answer: Answer
    request_id: bytes
    route: str


def build(request: HttpRequest) -> Answer:
    """Return the complete answer to a request that hashes a password, and count the refusal."""
    load_shedding.log_overload()
    prefix, request.path_info = split_prefix(request.path_info)
    made = _make(request.path_info, find_language(request))
    if settings.METRICS_TOKEN:
        metrics.count("POST", made.route, made.answer.status, 0.0)
    request_id = ids.new_text()
    body = made.answer.body.replace(made.request_id, request_id.encode())
    body = body.replace(_PREFIX.encode(), prefix.encode())
    changed = {"Content-Length": str(len(body)), "X-Request-Id": request_id}
    return Answer(body, {**made.answer.headers, **changed}, made.answer.status)


@cache
def _make(path: str, language: str | None) -> _Made:
    request = WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": f"{_PREFIX}{path}",
            "HTTP_ACCEPT_LANGUAGE": language or "",
            "wsgi.input": BytesIO(),
        }
    )
    response: Any = _wrap(load_shedding.refuse)(request)
    answer = Answer(response.content, dict(response.items()), response.status_code)
    return _Made(answer, response["X-Request-Id"].encode(), load_shedding.routes()[path].match.view_name)


def _wrap(respond: Any) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a function with the middleware above load shedding, except what counts requests."""
    for name in reversed(settings.MIDDLEWARE[: settings.MIDDLEWARE.index(_SHEDDING)]):
        if name == _MEASURING:
            continue
        try:
            respond = import_string(name)(respond)
        except MiddlewareNotUsed:
            continue
    return respond  # type: ignore[no-any-return]
