"""The routes of rows that several interfaces serve alike."""

from typing import Any

from django.urls import URLPattern, path

from identity.rest.viewsets import CrudViewSet
from identity.users.viewsets import UserRows


def crud(prefix: str, viewset: type[CrudViewSet], name: str, **options: Any) -> list[URLPattern]:
    """Return the two routes of a resource: its list and an item."""
    collection = viewset.as_view({"get": "list", "post": "create"}, **options)
    methods: dict[str, Any] = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
    return [
        path(prefix, collection, name=f"{name}-list"),
        path(f"{prefix}/<str:pk>", viewset.as_view(methods, **options), name=name),
    ]


def owned(prefix: str, viewset: type[UserRows], item: str, name: str) -> list[URLPattern]:
    """Return the two routes of what belongs to a user: the list, which DELETE ends, and an item."""
    collection = viewset.as_view({"get": "list", "delete": "destroy_all"})
    return [
        path(prefix, collection, name=f"{name}-list"),
        path(f"{prefix}/<str:{item}>", viewset.as_view({"delete": "destroy"}), name=name),
    ]
