"""Base classes of endpoints that list, read and edit rows of the active tenant.

Serializers validate requests and describe responses in the OpenAPI schema. Responses are built from the
values of ``columns``, which is many times cheaper than one object per row.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from audit.events import Event
from database import ids
from identity.core import records
from identity.core.models import EditableModel
from identity.rest.etags import etag, expected_versions
from identity.rest.filters import Filter
from identity.rest.list_query import BoundListQuery, CountSubquery, ListQuery

Row = dict[str, Any]


class TenantViewSet(GenericViewSet[Any]):
    """Rows of one model in the active tenant.

    The OpenAPI schema reads five attributes. ``request_serializers`` and ``response_serializers`` map an
    action to its serializer if that is not ``serializer_class`` (``None``: no body). ``optional_bodies`` are
    the actions whose body may be omitted. ``etag_actions`` respond with an ``ETag``. ``if_match_actions``
    check ``If-Match``.
    """

    request_serializers: ClassVar[Mapping[str, Any]] = {}
    response_serializers: ClassVar[Mapping[str, Any]] = {}
    optional_bodies: ClassVar[frozenset[str]] = frozenset()
    etag_actions: ClassVar[frozenset[str]] = frozenset()
    if_match_actions: ClassVar[frozenset[str]] = frozenset()
    model: type[Any]
    columns: tuple[str, ...]
    computed: ClassVar[Mapping[str, Any]] = {}
    filters: ClassVar[Mapping[str, Filter]] = {}
    resource_name: str

    def get_queryset(self) -> QuerySet[Any]:
        """Return the model's rows, newest first."""
        queryset: QuerySet[Any] = self.model.objects.order_by("-created_at", "-pk")
        return queryset

    def rows(self) -> QuerySet[Any, Row]:
        """Return the rows as dictionaries of the response's columns and the version."""
        rows: QuerySet[Any, Row] = self.get_queryset().annotate(**self.computed)
        return rows.values(*self.columns, "version")

    def to_representation(self, row: Row) -> Row:
        """Return a row as the response contains it."""
        row.pop("version")
        return row

    def row(self, pk: Any) -> Row | None:
        """Return the row with this id, or None."""
        return self.rows().filter(pk=pk).first()

    def require_parent(self) -> None:
        """Check that the parent row, which the path names, exists. Called only for empty lists.

        Raises:
            NotFound: the parent does not exist.

        """

    def total(self, rows: QuerySet[Any] | BoundListQuery) -> int | None:
        """Return the number of rows of a list, or None if the query of the page should count them."""
        return rows.count()

    def page_response(self, rows: QuerySet[Any, Row] | BoundListQuery) -> Response:
        """Return the requested page of the rows."""
        page = self.paginate_queryset(rows)  # type: ignore[arg-type]  # our pagination reads both
        if not page and not self.paginator.total:  # type: ignore[union-attr]  # of our pagination
            self.require_parent()
        return self.get_paginated_response([self.to_representation(row) for row in page or []])

    def query_filters(self) -> dict[str, str]:
        """Return the values of the filters in the query string, by name."""
        query = self.request.query_params
        return {name: value for name in self.filters if (value := query.get(name))}

    def apply_filters(self, rows: QuerySet[Any, Row]) -> QuerySet[Any, Row]:
        """Return the rows that match the filters in the query string."""
        for name, value in self.query_filters().items():
            rows = rows.filter(self.filters[name](value))
        return rows

    def get_object(self) -> Any:
        """Return the row that the path names.

        Raises:
            NotFound: the tenant has no row with this id.

        """
        row = self.get_queryset().filter(pk=self.pk()).first()
        if row is None:
            raise NotFound(f"{self.resource_name} not found")
        return row

    def pk(self) -> Any:
        """Return the id in the path.

        Raises:
            NotFound: the id is malformed.

        """
        pk = self.parse_id(self.kwargs["pk"])
        if pk is None:
            raise NotFound(f"{self.resource_name} not found")
        return pk

    def parse_id(self, text: str) -> Any:
        """Return an id from its text, or None if it is malformed."""
        return ids.parse(text)

    def row_response(self, pk: Any, *, secret: Mapping[str, str | None] | None = None) -> Response:
        """Return the response with a row and its ETag. ``secret`` is only in this response.

        Raises:
            NotFound: the tenant has no row with this id.

        """
        row = self.row(pk)
        if row is None:
            raise NotFound(f"{self.resource_name} not found")
        headers = {"ETag": etag(pk, row["version"])}
        if secret:
            headers["Cache-Control"] = "no-store"
        return Response({**self.to_representation(row), **(secret or {})}, headers=headers)

    def validated_fields(self, request: Request, instance: EditableModel | None = None) -> Row:
        """Return the validated fields of the request. With an instance, the request may omit fields.

        The serializer is kept for ``input_errors``.
        """
        self.serializer: BaseSerializer[Any] = self.get_serializer(
            instance, data=request.data, partial=instance is not None
        )
        self.serializer.is_valid(raise_exception=True)
        fields: Row = self.serializer.validated_data
        return fields


class ListMixin(TenantViewSet):
    """GET a page of rows, newest first."""

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """List rows, newest first."""
        if self.kwargs or self.query_filters():
            return self.page_response(self.apply_filters(self.rows()))
        return self.page_response(BoundListQuery(self._list_query(), self.rows, self.get_queryset))

    @classmethod
    @cache
    def _list_query(cls) -> ListQuery:
        """Return the query for all rows, without a parent or filters."""
        columns = (*cls.columns, "version")
        return ListQuery(lambda: cls().rows(), columns, lambda: cls().total_expression())

    def total_expression(self) -> Any:
        """Return an expression for the number of all rows, without a parent or filters."""
        return CountSubquery(self.get_queryset())


class ReadViewSet(ListMixin):
    """GET a page of rows, GET one row."""

    etag_actions = frozenset({"retrieve"})

    def retrieve(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return one row."""
        return self.row_response(self.pk())


class CrudViewSet(ReadViewSet):
    """List, read, create, change and delete rows; each change is atomic and audited."""

    etag_actions = frozenset({"create", "retrieve", "partial_update"})
    if_match_actions = frozenset({"partial_update", "destroy"})

    def create(self, request: Request, *_: Any, **__: Any) -> Response:
        """Create a row."""
        return self.row_response(self.perform_create(self.validated_fields(request)))

    def partial_update(self, request: Request, *_: Any, **__: Any) -> Response:
        """Change the fields that the request contains."""
        row = self.get_object()
        self.perform_update(row, self.validated_fields(request, row), expected_versions(request, row.pk))
        return self.row_response(row.pk)

    def destroy(self, request: Request, *_: Any, **__: Any) -> Response:
        """Delete a row."""
        row = self.get_object()
        self.perform_destroy(row, expected_versions(request, row.pk))
        return Response(None)

    def perform_create(self, fields: Row) -> Any:
        """Create a row and return its id. Subclasses may override it to call a service."""
        row = self.model(**fields)
        records.create(row, event=self.event("Create"), name=fields.get("name", ""))
        return row.pk

    def perform_update(self, row: Any, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a row. Subclasses may override it to call a service."""
        records.change(row, fields, event=self.event("Update"), expected=expected)

    def perform_destroy(self, row: Any, expected: frozenset[int] | None) -> None:
        """Delete a row. Subclasses may override it to call a service."""
        records.remove(row, event=self.event("Delete"), expected=expected)

    def event(self, verb: str) -> Event:
        """Return the audit event of an action on this model."""
        return Event(f"{self.model.__name__}.{verb}")
