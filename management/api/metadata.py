"""What OPTIONS answers."""

from typing import TYPE_CHECKING

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module by way of its settings


class Nothing(BaseMetadata):
    """Nothing but the header ``Allow``: the document says the rest."""

    def determine_metadata(self, request: Request, view: "APIView") -> None:
        """Return nothing."""
