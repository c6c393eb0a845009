"""/resources and /resources/:id/scopes."""

from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from database import ids
from identity.resources import services
from identity.resources.models import Resource, Scope
from identity.resources.serializers import ResourceSerializer, ScopeSerializer
from identity.rest.filters import by_id, contains, equals
from identity.rest.viewsets import CrudViewSet, Row


class ResourceViewSet(CrudViewSet):
    """API resources."""

    model = Resource
    resource_name = "resource"
    serializer_class = ResourceSerializer
    columns = (
        "id",
        "name",
        "indicator",
        "access_token_ttl",
        "is_default",
        "access_token_signing_alg",
        "claims",
        "custom_claims",
        "required_acr",
        "scope_count",
        "created_at",
        "updated_at",
    )
    computed = {"scope_count": Count("scopes")}
    filters = {
        "search": contains("name", "indicator"),
        "name": equals("name"),
        "indicator": equals("indicator"),
        "id": by_id,
    }

    def perform_create(self, fields: Row) -> UUID:
        """Create a resource."""
        return services.create(**fields).pk

    def perform_update(self, row: Resource, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a resource. Replacing or removing ``required_acr`` needs a recent sign-in."""
        caller: Any = self.request.user
        services.change(row, fields, expected=expected, is_proven=caller.has_signed_in_recently)

    def perform_destroy(self, row: Resource, expected: frozenset[int] | None) -> None:
        """Delete a resource with its scopes. With a ``required_acr``, it needs a recent sign-in."""
        caller: Any = self.request.user
        services.remove(row, expected=expected, is_proven=caller.has_signed_in_recently)


class ScopeViewSet(CrudViewSet):
    """The scopes of one resource."""

    model = Scope
    resource_name = "scope"
    serializer_class = ScopeSerializer
    pagination_class = None
    columns = ("id", "name", "description", "resource_id", "created_at")

    def get_queryset(self) -> QuerySet[Any]:
        """Return the scopes of the resource in the path.

        Raises:
            NotFound: the resource does not exist.

        """
        resource = ids.parse(self.kwargs["resource_pk"])
        if resource is None or not Resource.objects.filter(pk=resource).exists():
            raise NotFound("resource not found")
        return super().get_queryset().filter(resource=resource)

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return all scopes. A resource has few, so there are no pages."""
        return Response([self.to_representation(row) for row in self.rows()])

    def perform_create(self, fields: Row) -> UUID:
        """Create a scope of the resource."""
        resource = ids.parse(self.kwargs["resource_pk"])
        if resource is None:
            raise NotFound("resource not found")
        return services.add_scope(resource, **fields).pk

    def perform_destroy(self, row: Scope, expected: frozenset[int] | None) -> None:
        """Delete a scope, which roles lose."""
        services.remove_scope(row, expected=expected)
