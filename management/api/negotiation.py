"""Which parser reads a body, and which renderer writes one."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class StrictNegotiation(DefaultContentNegotiation):
    """Takes a body for what it is said to be. ``*/*`` says nothing, and is not read as JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> Any:
        """Return the parser for the body, if there is one."""
        if "*" in (request.content_type or ""):
            return None
        return super().select_parser(request, parsers)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return the renderer, and the media type it is asked for.

        Most ask for anything, or for just what the only renderer writes: there is nothing to weigh then.
        """
        only, *others = renderers
        asks_for_it = request.META.get("HTTP_ACCEPT", "*/*") in {"*/*", only.media_type}
        names_another = format_suffix or request.query_params.get(self.settings.URL_FORMAT_OVERRIDE)
        if asks_for_it and not others and not names_another:
            return only, only.media_type
        return super().select_renderer(request, [only, *others], format_suffix)
