"""How large a body may be, before anything reads it."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config import errors

WITHOUT_TOKEN: Final = 64 * 1024  # bytes: anybody may send it, so it must be cheap
_API: Final = "/api/v1/"  # needs a token
_PROTOCOL: Final = "/oidc/"  # forms of few fields, each of a bounded length
_SITE: Final = "/admin/"  # needs a session
_CHECK_THEMSELVES: Final = (_API, _PROTOCOL)


class BodyLimitMiddleware:
    """Refuses large forms where the CSRF check would read all of them first.

    Files are dropped unread (``FILE_UPLOAD_HANDLERS`` is empty): nothing here takes any, and
    they would fill the disk.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, or answer 413 in the shape of its path."""
        path = request.path_info
        if fits(request, path) or path.startswith(_CHECK_THEMSELVES):
            return self.get_response(request)
        return errors.too_large(request, limit(request, path))


def limit(request: HttpRequest, path: str) -> int:
    """Return how many bytes may be sent to a path below the tenant."""
    if path.startswith((_API, _PROTOCOL)):
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE  # the API checks the token before it reads the body
    if path.startswith(_SITE) and settings.SESSION_COOKIE_NAME in request.COOKIES:
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return WITHOUT_TOKEN


def fits(request: HttpRequest, path: str) -> bool:
    """Tell whether a body says to be no larger than what a path below the tenant takes."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdecimal() and int(length) <= limit(request, path)
