"""Requests that are sent twice: to the server of the tests, and to one where Django's handler serves all.

What a surface answers (``config.server.surfaces``) must not differ from what the view of its route answers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.conf import settings

from tests.support import second, server

_DOCUMENTS = "/.well-known/"
_OF_THE_REQUEST = {"date", "x-request-id"}
_send = httpx.Client.send


@contextmanager
def django_server() -> Iterator[str]:
    """Serve the same installation without surfaces: Django serves the requests of a server that logs them."""
    port = str(second.free_port())
    with server.process(PORT=port, LOG_REQUESTS="true", WEB_CONCURRENCY="1"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def compared(other: str) -> Iterator[None]:
    """Send each request for a public document to both servers, and compare their answers."""

    def send(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = _send(self, request, **options)
        if _DOCUMENTS in request.url.path and str(request.url).startswith(settings.BASE_URL):
            _compare(answer, _send_to(other, request))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "send", send)
        yield


def _send_to(other: str, request: httpx.Request) -> httpx.Response:
    url = httpx.URL(other).copy_with(raw_path=request.url.raw_path)
    with httpx.Client(verify=False) as http:  # noqa: S501 - to load certificates takes longer than the request
        twin = httpx.Request(request.method, url, headers=request.headers, content=request.read())
        return _send(http, twin)


def _compare(surface: httpx.Response, django: httpx.Response) -> None:
    assert surface.status_code == django.status_code
    assert surface.reason_phrase == django.reason_phrase
    assert _headers_of(surface) == _headers_of(django)
    assert surface.headers["X-Request-Id"] != django.headers["X-Request-Id"]
    if "text/html" not in surface.headers.get("Content-Type", ""):  # an error page has the request id
        assert surface.content == django.content


def _headers_of(answer: httpx.Response) -> list[tuple[str, str]]:
    return [item for item in answer.headers.multi_items() if item[0] not in _OF_THE_REQUEST]
