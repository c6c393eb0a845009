"""The permission of routes about the calling administrator."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from management.administrators.models import Administrator

if TYPE_CHECKING:
    from rest_framework.views import APIView


class IsAdministrator(BasePermission):
    """Allows every administrator, of any tenant."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the caller is an administrator."""
        return isinstance(request.user, Administrator)
