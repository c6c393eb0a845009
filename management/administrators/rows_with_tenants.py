"""Rows of administrators and invitations, with the slugs of their tenants."""

from typing import Any

from django.db.models import QuerySet


def read(queryset: QuerySet[Any], *columns: str) -> list[dict[str, Any]]:
    """Return columns of rows with the slugs of their tenants, newest first, in one query."""
    rows = queryset.model._default_manager.filter(pk__in=queryset.values("pk"))
    found: dict[Any, dict[str, Any]] = {}
    for row in rows.order_by("-created_at", "-pk", "tenants__slug").values(*columns, "tenants__slug"):
        slug = row.pop("tenants__slug")
        tenants = found.setdefault(row["id"], {**row, "tenants": []})["tenants"]
        if slug is not None:
            tenants.append(slug)
    return list(found.values())
