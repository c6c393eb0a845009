"""Limits on the size of request bodies, which apply before the body is read, and incomplete bodies."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from config import errors
from identity.http import areas, bodies

WITHOUT_TOKEN: Final = 64 * 1024  # bytes; small, because anyone can send such a body
# Views check the size: the API needs a token, and a form at the other has few fields, each of limited length.
_CHECKED_BY_VIEWS: Final = (areas.API_V1, areas.PROTOCOL)


class BodyLimitMiddleware:
    """Refuses large forms before the CSRF check reads them.

    Files are kept in memory by the operators' site alone, and discarded elsewhere: see
    ``identity.http.uploads``.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, or return 413 in the format of its path."""
        path = request.path_info
        if fits(request, path) or path.startswith(_CHECKED_BY_VIEWS):
            return self.get_response(request)
        return errors.too_large(request, limit(request, path))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return 400 if the client has disconnected, or is too slow, while a view reads the body."""
        return errors.bad_request(request) if isinstance(exception, UnreadablePostError) else None


def limit(request: HttpRequest, path: str) -> int:
    """Return the maximum size in bytes of a body sent to a path below the tenant."""
    if path.startswith(_CHECKED_BY_VIEWS):
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE  # the API checks the token before it reads the body
    if areas.is_of_site(path) and settings.SESSION_COOKIE_NAME in request.COOKIES:
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return WITHOUT_TOKEN


def fits(request: HttpRequest, path: str) -> bool:
    """Return whether the Content-Length of a request is within the limit of its path below the tenant."""
    length = bodies.get_length(request.META)
    return length is not None and length <= limit(request, path)
