"""Responses with public documents, as the bytes that are sent."""

import time

from django.conf import settings
from django.http import HttpRequest
from gunicorn.asgi import protocol

from config import headers
from config.documents import Wanted
from database import ids
from identity.http.answers import Answer
from management.observability import metrics
from oidc.public_json import cacheable_json


def build(wanted: Wanted, document: Answer, *, started: float, close: bool) -> bytes:
    """Return the response to a request that arrived at ``started``, and count it in the metrics.

    ``close`` announces that the connection ends.
    """
    unfinished = document if wanted.none_match is None else _apply_precondition(wanted, document)
    answer = headers.complete(unfinished, ids.new_text())
    response = (
        protocol._get_cached_status_line(wanted.version, answer.status),  # noqa: SLF001
        "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode("latin-1"),
        protocol._CACHED_SERVER_HEADER,  # noqa: SLF001
        protocol._get_cached_date_header(),  # noqa: SLF001
        b"Connection: close\r\n\r\n" if close else b"\r\n",
        b"" if wanted.method == "HEAD" else answer.body,
    )
    if settings.METRICS_TOKEN:
        metrics.count(wanted.method, wanted.route, answer.status, time.perf_counter() - started)
    return b"".join(response)


def _apply_precondition(wanted: Wanted, document: Answer) -> Answer:
    request = HttpRequest()
    request.method, request.META["HTTP_IF_NONE_MATCH"] = wanted.method, wanted.none_match
    response = cacheable_json(request, document)
    return Answer(response.content, dict(response.items()), response.status_code)
