"""Load shedding: requests with a password are refused early if no hashing slot is free."""

import logging
import time
from collections.abc import Callable, Iterator
from functools import cache
from http import HTTPStatus
from typing import Final

import orjson
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, URLResolver, get_resolver, resolve, set_script_prefix

from config import errors
from config.body_limits import fits
from identity.tenants.middleware import split_prefix
from identity.users import hashing_views, passwords
from interaction.pages.language import LanguageMiddleware

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_LOG_INTERVAL: Final = 60  # seconds
_logger: Final = logging.getLogger("gatehouse.load_shedding")


class LoadSheddingMiddleware:
    """Reserves a hashing slot for each POST to a view that hashes passwords without authentication.

    Without a free slot, the request is refused, before its tenant is looked up or a statement is run. An
    admitted request keeps its slot to the end, so these requests never use more threads than there are slots.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._overloaded = LanguageMiddleware(errors.overloaded)
        self._logged_at = -float(_LOG_INTERVAL)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request, or return 503 in the format of its path."""
        prefix, path = split_prefix(request.path_info)
        if request.method != "POST" or not fits(request, path):  # BodyLimitMiddleware refuses large bodies
            return self.get_response(request)
        route = routes().get(path)
        if route is None:
            return self.get_response(request)
        try:
            request.body  # noqa: B018 - read before a slot is reserved, so a slow client has none
        except UnreadablePostError:
            return HttpResponse(status=HTTPStatus.BAD_REQUEST)  # the client has disconnected
        match, field = route
        if field and not _has_field(request, field):
            return self.get_response(request)
        with passwords.reserve_place() as is_reserved:
            if is_reserved:
                return self.get_response(request)
        request.path_info, request.resolver_match = path, match
        return self._refuse(request, prefix)

    def _refuse(self, request: HttpRequest, prefix: str) -> HttpResponseBase:
        now = time.monotonic()
        if now - self._logged_at >= _LOG_INTERVAL:
            self._logged_at = now
            _logger.warning("passwords arrive faster than they can be hashed: some requests get 503")
        set_script_prefix(f"{prefix}/")
        try:
            response = self._overloaded(request)
        finally:
            set_script_prefix("/")
        # Django would log a line for each refusal, and a flood would fill the log.
        response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
        return response


@cache
def routes() -> dict[str, tuple[ResolverMatch, str]]:
    """Return the views marked with ``hashes_password`` by path, each with the field of the password."""
    return {path: (resolve(path), field) for path, field in _find_marked(get_resolver(), "/")}


def _find_marked(resolver: URLResolver, above: str) -> Iterator[tuple[str, str]]:
    for pattern in resolver.url_patterns:
        path = f"{above}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _find_marked(pattern, path)
        elif (field := hashing_views.get_marked_field(pattern.callback)) is not None:
            yield path, field


def _has_field(request: HttpRequest, field: str) -> bool:
    """Tell whether a JSON or form body has a field. The view refuses other bodies."""
    if request.content_type == _JSON:
        try:
            body = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return False
        return isinstance(body, dict) and bool(body.get(field))
    return request.content_type == _FORM and bool(request.POST.get(field))
