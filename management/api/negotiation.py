"""Selection of the parser of a request and the renderer of a response."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class StrictNegotiation(DefaultContentNegotiation):
    """Requires an exact content type: ``*/*`` is not read as JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> Any:
        """Return the parser for the request's content type; None if there is none."""
        if "*" in (request.content_type or ""):
            return None
        return super().select_parser(request, parsers)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return the renderer and the media type.

        If the client accepts any type or exactly that of the only renderer, the header is not parsed.
        """
        only, *others = renderers
        is_accepted = request.META.get("HTTP_ACCEPT", "*/*") in {"*/*", only.media_type}
        names_format = format_suffix or request.query_params.get(self.settings.URL_FORMAT_OVERRIDE)
        if is_accepted and not others and not names_format:
            return only, only.media_type
        return super().select_renderer(request, [only, *others], format_suffix)
