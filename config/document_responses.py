"""Responses with public documents, as bytes. What is the same in all responses with a document is kept."""

import time
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from gunicorn.asgi import protocol

from config import headers
from config.documents import Wanted
from database import ids
from identity.http.answers import Answer
from management.observability import metrics
from oidc.public_json import cacheable_json

_PLACE: Final = "\0"  # of the id of the request
_MOST: Final = 1_024  # heads in memory, of about 600 bytes each
# By the id of the answer, which is kept too: so no other answer gets this id.
_kept: Final[dict[int, tuple[Answer, bytes, bytes]]] = {}


def build(wanted: Wanted, document: Answer, *, started: float, close: bool) -> bytes:
    """Return the response to a request that arrived at ``started``, and count it in the metrics.

    ``close`` announces that the connection ends.
    """
    if wanted.none_match is None:
        answer, before, after = _get_head(document)
    else:
        answer, before, after = _build_head(_apply_precondition(wanted, document))
    response = (
        protocol._get_cached_status_line(wanted.version, answer.status),  # noqa: SLF001
        before,
        ids.new_text().encode(),
        after,
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


def _get_head(document: Answer) -> tuple[Answer, bytes, bytes]:
    found = _kept.get(id(document))
    if found is None:
        if len(_kept) >= _MOST:
            _kept.clear()
        found = _kept[id(document)] = _build_head(document)
    return found


def _build_head(answer: Answer) -> tuple[Answer, bytes, bytes]:
    """Return the answer, and its headers before and after the id of the request."""
    complete = dict(answer.headers)
    length = None if answer.status in headers.WITHOUT_BODY else len(answer.body)
    headers.add(complete, status=answer.status, request_id=_PLACE, length=length)
    lines = "".join(f"{name}: {value}\r\n" for name, value in complete.items())
    before, _, after = lines.encode("latin-1").partition(_PLACE.encode())
    return answer, before, after + protocol._CACHED_SERVER_HEADER  # noqa: SLF001
