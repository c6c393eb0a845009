"""What a form of a page may be, before anything reads it."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config import errors

_CHECK_THEMSELVES: Final = ("/api/", "/oidc/")


class BodyLimitMiddleware:
    """Refuses large forms where the CSRF check would read all of them first.

    Files are dropped unread (``FILE_UPLOAD_HANDLERS`` is empty): nothing here takes any, and
    they would fill the disk.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, or answer 413 with a page."""
        if fits(request) or request.path_info.startswith(_CHECK_THEMSELVES):
            return self.get_response(request)
        return errors.too_large(request)


def fits(request: HttpRequest) -> bool:
    """Tell whether a body says to be no larger than what we take."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdecimal() and int(length) <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE
