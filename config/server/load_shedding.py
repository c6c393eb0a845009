"""Load shedding: requests with a password are refused before other work if no hashing place is free."""

import logging
import time
from collections.abc import Callable, Iterator
from functools import cache
from http import HTTPStatus
from typing import Final, NamedTuple

import orjson
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, URLResolver, get_resolver, resolve, set_script_prefix

from config import errors
from config.server.body_limits import fits
from identity.tenants.middleware import split_prefix
from identity.users import hashing_views, passwords
from interaction.pages.language import LanguageMiddleware

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_LOG_INTERVAL: Final = 60  # seconds
_logger: Final = logging.getLogger("gatehouse.load_shedding")


class LoadSheddingMiddleware:
    """Reserves a hashing place for each POST to a view that hashes passwords without authentication.

    Without a free place, the request is refused, before its tenant is looked up or a statement is run. An
    admitted request keeps its place to the end, so these requests never use more threads than there are
    places. The loop of a worker refuses most of them earlier (``config.server.early_refusals``).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request, or return 503 in the format of its path."""
        try:
            has_password = needs_place(request)
        except UnreadablePostError:
            return HttpResponse(status=HTTPStatus.BAD_REQUEST)  # the client has disconnected
        if not has_password:
            return self.get_response(request)
        with passwords.reserve_place() as is_reserved:
            if is_reserved:
                return self.get_response(request)
        return refuse(request)


def needs_place(request: HttpRequest) -> bool:
    """Return whether a request needs a hashing place: it hashes a password without authentication.

    Raises:
        UnreadablePostError: the client has disconnected before the body had arrived.

    """
    _, path = split_prefix(request.path_info)
    if request.method != "POST" or not fits(request, path):  # BodyLimitMiddleware refuses large bodies
        return False
    if (route := routes().get(path)) is None:
        return False
    request.body  # noqa: B018 - read before a place is reserved, so a slow client holds no place
    return not route.password_field or _has_field(request, route.password_field)


class _Warnings:
    """Logs that requests are refused, at most once in each interval."""

    def __init__(self) -> None:
        self._logged_at = -float(_LOG_INTERVAL)

    def log(self) -> None:
        now = time.monotonic()
        if now - self._logged_at >= _LOG_INTERVAL:
            self._logged_at = now
            _logger.warning("passwords arrive faster than they can be hashed: some requests get 503")


log_overload: Final = _Warnings().log
_respond: Final = LanguageMiddleware(errors.overloaded)


def refuse(request: HttpRequest) -> HttpResponseBase:
    """Return 503 for a request that hashes a password, in the format of its path."""
    log_overload()
    prefix, request.path_info = split_prefix(request.path_info)
    request.resolver_match = routes()[request.path_info].match
    set_script_prefix(f"{prefix}/")
    try:
        response = _respond(request)
    finally:
        set_script_prefix("/")
    # Django would log a line for each refusal, and a flood would fill the log.
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


class HashingRoute(NamedTuple):
    """A view that is marked with ``hashes_password``.

    Only requests with ``password_field`` hash a password. If it is empty, all do.
    """

    match: ResolverMatch
    password_field: str


@cache
def routes() -> dict[str, HashingRoute]:
    """Return the views that are marked with ``hashes_password``, by path."""
    return {path: HashingRoute(resolve(path), field) for path, field in _find_marked(get_resolver(), "/")}


def _find_marked(resolver: URLResolver, above: str) -> Iterator[tuple[str, str]]:
    for pattern in resolver.url_patterns:
        path = f"{above}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _find_marked(pattern, path)
        elif (field := hashing_views.get_marked_field(pattern.callback)) is not None:
            yield path, field


def _has_field(request: HttpRequest, field: str) -> bool:
    """Return whether a JSON or form body has a field. The view refuses other bodies."""
    if request.content_type == _JSON:
        try:
            body = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return False
        return isinstance(body, dict) and bool(body.get(field))
    return request.content_type == _FORM and bool(request.POST.get(field))
