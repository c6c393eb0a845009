"""Limits on the size of request bodies, applied before anything reads them."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config import errors

WITHOUT_TOKEN: Final = 64 * 1024  # bytes; anyone can send such a body, so it must be cheap
_API: Final = "/api/v1/"  # needs a token
_PROTOCOL: Final = "/oidc/"  # forms of few fields, each of a bounded length
_SITE: Final = "/admin/"  # needs a session
_CHECK_THEMSELVES: Final = (_API, _PROTOCOL)


class BodyLimitMiddleware:
    """Refuses large forms before the CSRF check reads them.

    Uploaded files are discarded unread (``FILE_UPLOAD_HANDLERS`` is empty): no view accepts files, and they
    would fill the disk.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, or return 413 in the format of its path."""
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
    """Tell whether the Content-Length of a request is within the limit of its path below the tenant."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdecimal() and int(length) <= limit(request, path)
