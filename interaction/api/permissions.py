"""Permissions of the interaction API: same-origin pages, and clients that are not browsers."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from identity.http import same_origin

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module by way of its settings


class SameOrigin(BasePermission):
    """Refuses requests from pages of other origins."""

    message = "requests from other origins are refused"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the request comes from the same origin or from no page at all."""
        return same_origin.is_same_origin(request)
