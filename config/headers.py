"""Headers of all responses: for security, the length and the request id."""

import base64
import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from audit import context
from identity.http.answers import Answer

_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
_ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer", browsers would send our own forms with "Origin: null".
    "Referrer-Policy": "same-origin",
}
if settings.HSTS_SECONDS:
    _ALWAYS["Strict-Transport-Security"] = f"max-age={settings.HSTS_SECONDS}; includeSubDomains"
# RFC 9110 section 8.6: a 204 has no Content-Length, and a 304 has the one of the 200 or none.
WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_PERMISSIONS: Final = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class Headers(Protocol):
    """Headers by name: those of a response of Django, or a dictionary."""

    def __setitem__(self, name: str, value: str, /) -> None: ...


def add(headers: Headers, *, status: int, request_id: str, length: int | None) -> None:
    """Add the headers that every response has, whether Django's handler makes it or not.

    ``length`` is that of the body, or None if it is unknown or the response has no body.
    """
    if length is not None:
        headers["Content-Length"] = str(length)
    for name, value in _ALWAYS.items():
        headers[name] = value
    # RFC 9111 section 3.2: the headers of a 304 replace those of the stored response, which may be a page.
    if status != HTTPStatus.NOT_MODIFIED:
        headers["Content-Security-Policy"] = _POLICY
    headers["X-Request-Id"] = request_id


def complete(answer: Answer, request_id: str) -> Answer:
    """Return an answer that is made without Django's handler, with the headers that every response has."""
    all_headers = dict(answer.headers)
    length = None if answer.status in WITHOUT_BODY else len(answer.body)
    add(all_headers, status=answer.status, request_id=request_id, length=length)
    return Answer(answer.body, all_headers, answer.status)


class SecurityHeadersMiddleware:
    """Adds the headers to every response of Django. Attributes of the response change them.

    Views set the attributes with the functions of ``identity.http.responses``.

    - ``form_targets``: other origins to which forms of the page may redirect
    - ``only_form_target``: the only address to which forms of the page may be sent
    - ``frames``: whether the page may frame pages of this installation
    - ``framed``: whether pages of this installation may frame the page. Such a page is sandboxed: no script
      runs, and no form is sent
    - ``sandboxed``: whether a response that is no page is sandboxed when a browser opens it
    - ``style_sheets``: the texts of inline style sheets, which the policy allows by their hashes
    - ``widget_sources``: the origins of the scripts, styles and frames of a CAPTCHA
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, then add the headers."""
        response = self.get_response(request)
        length = len(response.content) if _needs_length(response) else None
        add(response, status=response.status_code, request_id=context.current().request_id, length=length)
        if getattr(response, "sandboxed", False) and response.status_code != HTTPStatus.NOT_MODIFIED:
            response["Content-Security-Policy"] += "; sandbox"
        if response.get("Content-Type", "").startswith("text/html"):
            framed = getattr(response, "framed", False)
            response["Content-Security-Policy"] = _policy(response)
            response["X-Frame-Options"] = "SAMEORIGIN" if framed else "DENY"
            if not framed:  # HTML does not allow this policy in a sandbox
                response["Cross-Origin-Opener-Policy"] = "same-origin"
            response["Permissions-Policy"] = _PERMISSIONS
        return response


def _needs_length(response: HttpResponse) -> bool:
    """Return whether a response needs a length: its body is complete, and no length is set yet."""
    return (
        not response.streaming
        and response.status_code not in WITHOUT_BODY
        and not response.has_header("Content-Length")
    )


def _policy(response: HttpResponse) -> str:
    """Return the policy of a page.

    Chromium applies ``form-action`` to every redirect that follows a form, including those of the
    application. So the policy allows every https origin, and the page's form targets.
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
            " ".join(("form-action", *_get_form_sources(response))),
            "frame-ancestors 'self'" if framed else "frame-ancestors 'none'",
            "base-uri 'none'",
            "object-src 'none'",
            *([" ".join(("frame-src", *frames, *widget))] if frames or widget else []),
            *(["sandbox"] if framed else []),
        )
    )


def _get_form_sources(response: HttpResponse) -> tuple[str, ...]:
    only = getattr(response, "only_form_target", None)
    return (only,) if only else ("'self'", "https:", *getattr(response, "form_targets", ()))


def _hash(sheet: str) -> str:
    """Return the source expression that allows a style sheet (Content Security Policy Level 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()}'"
