"""Which parser reads a body."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request


class StrictNegotiation(DefaultContentNegotiation):
    """Takes a body for what it is said to be. ``*/*`` says nothing, and is not read as JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> Any:
        """Return the parser for the body, if there is one."""
        if "*" in (request.content_type or ""):
            return None
        return super().select_parser(request, parsers)
