"""Headers that keep browsers from doing what our pages never ask for."""

import base64
import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import ResponseHeaders

_PERMISSIONS: Final = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class SecurityHeadersMiddleware:
    """Adds them to every answer; a page may ask for what it needs besides.

    ``response.form_targets`` are where its forms lead beyond us, with ``response.frames`` it may
    frame pages of ours, and with ``response.framed`` it may be framed by them: such a page is
    a picture, in which nothing runs and nothing is sent. ``response.style_sheets`` are the
    texts of sheets that stand in the page itself, which the policy names by their hashes.
    ``response.widget_sources`` are whose scripts, styles and frames the page shows besides: a CAPTCHA's.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        headers = {
            "X-Content-Type-Options": "nosniff",
            # The Origin header of our own forms must survive, which "no-referrer" takes away.
            "Referrer-Policy": "same-origin",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        }
        if settings.HSTS_SECONDS:
            headers["Strict-Transport-Security"] = f"max-age={settings.HSTS_SECONDS}; includeSubDomains"
        self._always: Final = ResponseHeaders(headers)._store  # noqa: SLF001

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, then add the headers."""
        response = self.get_response(request)
        if _has_a_body(response) and not response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))
        # Django looks at each name and value anew when it is set: a tenth of the work of a small request.
        response.headers._store |= self._always  # noqa: SLF001
        if response.get("Content-Type", "").startswith("text/html"):
            framed = getattr(response, "framed", False)
            response["Content-Security-Policy"] = _policy(response)
            response["X-Frame-Options"] = "SAMEORIGIN" if framed else "DENY"
            if not framed:  # HTML calls it an error together with a sandbox
                response["Cross-Origin-Opener-Policy"] = "same-origin"
            response["Permissions-Policy"] = _PERMISSIONS
        return response


def _has_a_body(response: HttpResponse) -> bool:
    """Tell whether the length of the content is the length of a body (RFC 9110 section 8.6)."""
    return not response.streaming and response.status_code not in {
        HTTPStatus.NO_CONTENT,
        HTTPStatus.NOT_MODIFIED,
    }


def _policy(response: HttpResponse) -> str:
    """Return the policy of a page.

    Chromium holds ``form-action`` against every redirect that follows a form, up to the
    application and beyond: hence https, and what else the page says its form leads to.
    """
    framed, sheets = getattr(response, "framed", False), getattr(response, "style_sheets", ())
    widget = getattr(response, "widget_sources", ())
    frames = ["'self'"] if getattr(response, "frames", False) else []
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *widget)),
            " ".join(("style-src", *(map(_hash, sheets) if sheets else ["'self'"]), *widget)),
            "img-src 'self' https: data:",
            "font-src 'self'",
            " ".join(("connect-src 'self'", *widget)),
            " ".join(("form-action 'self' https:", *getattr(response, "form_targets", ()))),
            "frame-ancestors 'self'" if framed else "frame-ancestors 'none'",
            "base-uri 'none'",
            "object-src 'none'",
            *([" ".join(("frame-src", *frames, *widget))] if frames or widget else []),
            *(["sandbox"] if framed else []),
        )
    )


def _hash(sheet: str) -> str:
    """Return the source expression that lets in one text (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()}'"
