"""Routes that concern nobody but the administrator who calls them."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from management.administrators.models import Administrator

if TYPE_CHECKING:
    from rest_framework.views import APIView


class IsAdministrator(BasePermission):
    """Lets every administrator in, for what concerns nobody but that administrator."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Tell whether the caller is an administrator."""
        return isinstance(request.user, Administrator)
