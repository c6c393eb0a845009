"""GET /api/openapi.json and GET /api/docs: public and cacheable."""

import hashlib
from abc import ABC, abstractmethod
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

_MAX_AGE: Final = 300  # seconds


class OpenDocument(ABC, APIView):
    """Base class of both views."""

    schema = None
    authentication_classes = ()
    permission_classes = (AllowAny,)
    content_type: str

    def get(self, request: Request) -> HttpResponse:
        """Return the document, or 304 if the client has this version."""
        return _cacheable(request, self.bytes(), self.content_type)

    @abstractmethod
    def bytes(self) -> bytes:
        """Return the body of the response."""


class Document(OpenDocument):
    """The OpenAPI document."""

    content_type = "application/json"

    def bytes(self) -> bytes:
        # drf-spectacular imports Django's test client, and few servers are asked for the document.
        from management.openapi import document  # noqa: PLC0415

        return document.as_json()


class Reference(OpenDocument):
    """The document as an HTML page."""

    content_type = "text/html; charset=utf-8"

    def bytes(self) -> bytes:
        from management.openapi import reference  # noqa: PLC0415 - as above

        return reference.as_html()


def _cacheable(request: HttpRequest, body: bytes, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Cache-Control"] = f"public, max-age={_MAX_AGE}"
    response["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    assert isinstance(conditional, HttpResponse)  # noqa: S101 - never None with a response argument
    return conditional
