"""Request bodies with chunked transfer coding (HTTP/1.1), which WSGI does not cover."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from django.conf import settings
from gunicorn.http.errors import ParseException


def is_chunked(environ: dict[str, Any]) -> bool:
    """Return whether a request has a body without a Content-Length."""
    return "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH")


def read(environ: dict[str, Any]) -> bool:
    """Read a chunked body into memory and set its length; return false if it cannot be read.

    Django treats a body without a length as empty. Reading stops one byte after the limit, so that Django
    refuses a chunked body that is too long like any other.
    """
    try:
        body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    except (OSError, ParseException):  # the client has disconnected, or the chunks are malformed
        return False
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))
    return True


def refuse(start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Return 400 for a body that cannot be read."""
    start_response("400 Bad Request", [("Content-Length", "0"), ("Cache-Control", "no-store")])
    return ()
