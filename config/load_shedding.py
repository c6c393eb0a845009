"""Turning away, before anything costly, requests for whose password there is no place."""

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
_SECONDS: Final = 60  # between two lines of the log
_logger: Final = logging.getLogger("gatehouse.load_shedding")


class LoadSheddingMiddleware:
    """Gives what is posted to views that hash for strangers a place for it, or refuses it.

    Who is refused has cost no statement and no look at a tenant. Who is let in keeps the place to the
    end, so that such requests never hold more threads than there are places.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._shape = LanguageMiddleware(errors.overloaded)
        self._told = -float(_SECONDS)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request, or answer 503 in the shape of its path."""
        prefix, path = split_prefix(request.path_info)
        if request.method != "POST" or not fits(request, path):  # what is too large is told further in
            return self.get_response(request)
        route = routes().get(path)
        if route is None:
            return self.get_response(request)
        try:
            request.body  # noqa: B018 - arrives before a place is taken: whoever sends slowly takes none
        except UnreadablePostError:
            return HttpResponse(status=HTTPStatus.BAD_REQUEST)  # which nobody is there to read
        match, field = route
        if field and not _holds(request, field):
            return self.get_response(request)
        with passwords.reserve_place() as taken:
            if taken:
                return self.get_response(request)
        request.path_info, request.resolver_match = path, match
        return self._refused(request, prefix)

    def _refused(self, request: HttpRequest, prefix: str) -> HttpResponseBase:
        now = time.monotonic()
        if now - self._told >= _SECONDS:
            self._told = now
            _logger.warning("more passwords are sent than can be hashed: such requests are answered 503")
        set_script_prefix(f"{prefix}/")
        try:
            response = self._shape(request)
        finally:
            set_script_prefix("/")
        # Django would write a line for each, and whoever floods us would fill the log.
        response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
        return response


@cache
def routes() -> dict[str, tuple[ResolverMatch, str]]:
    """Return the paths of the marked views, each with its route and the field that it was marked with."""
    return {path: (resolve(path), field) for path, field in _marked(get_resolver(), "/")}


def _marked(resolver: URLResolver, above: str) -> Iterator[tuple[str, str]]:
    for pattern in resolver.url_patterns:
        path = f"{above}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _marked(pattern, path)
        elif (field := hashing_views.field_of(pattern.callback)) is not None:
            yield path, field


def _holds(request: HttpRequest, field: str) -> bool:
    """Tell whether a body holds a field; what is neither JSON nor a plain form is left to the view."""
    if request.content_type == _JSON:
        try:
            body = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return False
        return isinstance(body, dict) and bool(body.get(field))
    return request.content_type == _FORM and bool(request.POST.get(field))
