"""Request bodies without a length: HTTP/1.1 chunked transfer coding, which WSGI has no word for."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from django.conf import settings
from gunicorn.http.errors import ParseException


def is_chunked(environ: dict[str, Any]) -> bool:
    """Tell whether the length of a body is known only when all of it is there."""
    return "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH")


def read(environ: dict[str, Any]) -> bool:
    """Read a chunked body into memory and say how long it is; tell whether that was possible.

    Django takes a body without a length for an empty one. Of a body that is too long for every path
    one byte more than the limit is read, so it is refused as one that says its length.
    """
    try:
        body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    except (OSError, ParseException):  # the client has gone, or the chunks are malformed
        return False
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))
    return True


def refuse(start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a body that cannot be read."""
    start_response("400 Bad Request", [("Content-Length", "0"), ("Cache-Control", "no-store")])
    return ()
