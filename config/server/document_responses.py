"""Answers to requests for public documents, complete and counted."""

import time

from django.conf import settings
from django.http import HttpRequest

from config import headers
from config.server.documents import Wanted
from database import ids
from identity.http.answers import Answer
from management.observability import metrics
from oidc.public_json import cacheable_json


def build(wanted: Wanted, document: Answer, *, started: float) -> Answer:
    """Return the answer to a request that arrived at ``started``, and count it in the metrics."""
    unfinished = document if wanted.none_match is None else _apply_precondition(wanted, document)
    if settings.METRICS_TOKEN:
        metrics.count(wanted.method, wanted.route, unfinished.status, time.perf_counter() - started)
    return headers.complete(unfinished, ids.new_text())


def _apply_precondition(wanted: Wanted, document: Answer) -> Answer:
    request = HttpRequest()
    request.method, request.META["HTTP_IF_NONE_MATCH"] = wanted.method, wanted.none_match
    response = cacheable_json(request, document)
    return Answer(response.content, dict(response.items()), response.status_code)
