"""Who may call the interaction API: pages of our own origin, and programs that are no browsers."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from interaction.journeys import same_origin

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module by way of its settings


class SameOrigin(BasePermission):
    """Refuses requests that a page of another origin made."""

    message = "requests from other origins are refused"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Tell whether the request comes from our origin, by what browsers say of it."""
        return same_origin.made_here(request._request)  # noqa: SLF001
