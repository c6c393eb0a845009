"""What surfaces share (see ``config.server.surfaces``): headers, and what makes a request unusual."""

from typing import Final

# Of a response to a request without an Origin. ``cross_origin`` adds the same ``Vary`` to those of views.
JSON_HEADERS: Final = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "Vary": "Origin",
}
# Django must serve requests with these: it may replace a cookie, looks up an origin and reads the body.
UNUSUAL: Final = ("HTTP_ORIGIN", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING")
