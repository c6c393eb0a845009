"""Large bodies, which arrive while a thread serves their request. Small ones have arrived before."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.http.request import RawPostDataException

SMALL: Final = 65_536  # bytes


def get_length(meta: Mapping[str, Any]) -> int | None:
    """Return the Content-Length in the headers of WSGI: 0 if there is none, and None if it is malformed."""
    length: str = meta.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdecimal() else None


def is_large(request: HttpRequest) -> bool:
    """Return whether a request has a large body that will be read.

    Its client decides when the body ends, up to a minute later. What the caller may do has to be read again
    then.
    """
    length = get_length(request.META)
    return length is not None and SMALL < length <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def receive(request: HttpRequest) -> bool:
    """Wait for a large body, and return true after it has arrived; return false for any other request.

    Raises:
        UnreadablePostError: the client has disconnected, or is too slow.

    """
    if not is_large(request):
        return False
    with suppress(RawPostDataException):  # the form has been read from the body already
        _ = request.body
    return True
