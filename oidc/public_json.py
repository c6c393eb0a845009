"""Public, cacheable JSON documents: discovery and the key set."""

import hashlib
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

_MAX_AGE: Final = 300  # seconds


def cacheable_json(request: HttpRequest, document: dict[str, Any]) -> HttpResponse:
    """Return the document, or 304 if the client has it. Every origin may read it."""
    body = orjson.dumps(document)
    response = HttpResponse(body, content_type="application/json")
    response["Cache-Control"] = f"public, max-age={_MAX_AGE}"
    response["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    assert isinstance(conditional, HttpResponse)  # noqa: S101 - a response was given
    # A script that sends If-None-Match itself gets the 304, which needs the header too.
    conditional["Access-Control-Allow-Origin"] = "*"
    return conditional
