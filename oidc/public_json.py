"""Public, cacheable JSON documents: discovery and the key set."""

import hashlib
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from identity.http.answers import Answer

_MAX_AGE: Final = 300  # seconds


def encode(document: dict[str, Any]) -> Answer:
    """Return the answer with a document, which every origin may read."""
    body = orjson.dumps(document)
    return Answer(
        body,
        {
            "Content-Type": "application/json",
            "Cache-Control": f"public, max-age={_MAX_AGE}",
            "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
            "Access-Control-Allow-Origin": "*",
        },
    )


def cacheable_json(request: HttpRequest, document: Answer) -> HttpResponse:
    """Return the document, or 304 if the client has it."""
    response = HttpResponse(document.body, headers=dict(document.headers))
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    assert isinstance(conditional, HttpResponse)  # noqa: S101 - a response was given
    # A script that sends If-None-Match itself gets the 304, which needs the header too.
    conditional["Access-Control-Allow-Origin"] = "*"
    return conditional
