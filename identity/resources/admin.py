"""API resources, for operators to read."""

from typing import Any

from django.contrib import admin

from identity.core.admin import Pages
from identity.core.operations import SHOWN, Panel
from identity.resources.models import Resource, Scope


@admin.register(Resource)
class ResourceAdmin(Pages):
    """API resources and their scopes."""

    section = "Access"
    title = "API resources"
    list_display = ("name", "indicator", "access_token_ttl", "is_default", "created_at")
    list_filter = ("is_default",)
    search_fields = ("name", "indicator")
    shown = (
        "id", "name", "indicator", "access_token_ttl", "is_default", "is_protected", "created_at",
        "updated_at",
    )  # fmt: skip

    def panels(self, request: Any, row: Resource) -> list[Panel]:
        """Show the scopes."""
        scopes = list(Scope.objects.filter(resource=row).order_by("name")[: SHOWN + 1])
        rows = [(scope.name, scope.description) for scope in scopes[:SHOWN]]
        return [
            Panel("Scopes", ("Scope", "Description"), rows, cut=len(scopes) > SHOWN),
            *super().panels(request, row),
        ]
