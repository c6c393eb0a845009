"""/administrators, at the root."""

from typing import Any

from identity.core.viewsets import CrudViewSet, Row
from management.administrators import services
from management.administrators.models import Administrator
from management.administrators.serializers import AdministratorWriteSerializer


class AdministratorViewSet(CrudViewSet):
    """Administrators."""

    model = Administrator
    thing = "administrator"
    serializer_class = AdministratorWriteSerializer
    columns = ("id", "username", "email", "phone", "is_superuser", "created_at", "updated_at")

    def parsed(self, text: str) -> int | None:
        """Take whole numbers."""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004

    def shape(self, row: Row) -> Row:
        """Add the slugs of the tenants that are managed."""
        shown = super().shape(row)
        slugs = self._slugs if hasattr(self, "_slugs") else services.tenants_of([row["id"]])
        return {**shown, "tenants": slugs.get(row["id"], [])}

    def list(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer with a page; the tenants of all of it are read at once."""
        page = self.paginate_queryset(self.rows()) or []
        self._slugs = services.tenants_of([row["id"] for row in page])
        return self.get_paginated_response([self.shape(row) for row in page])

    def perform_create(self, fields: Row) -> int:
        """Create an administrator."""
        return services.create(**fields).pk

    def perform_update(self, row: Administrator, fields: Row, expected: frozenset[int] | None) -> None:
        """Change an administrator."""
        services.change(row, fields, expected=expected)

    def perform_destroy(self, row: Administrator, expected: frozenset[int] | None) -> None:
        """Delete an administrator."""
        services.remove(row, expected=expected)
