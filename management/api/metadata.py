"""Responses to OPTIONS."""

from typing import TYPE_CHECKING

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module through its settings


class NoMetadata(BaseMetadata):
    """No body, only the header ``Allow``: the OpenAPI document has the rest."""

    def determine_metadata(self, request: Request, view: "APIView") -> None:
        """Return nothing."""
