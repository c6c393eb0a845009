"""Base classes of endpoints that list, read and edit rows of the active tenant.

Serializers validate input and describe responses in the OpenAPI schema. Responses are built from plain values
in the order of ``columns``, which is many times cheaper than one object per row.
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
from identity.rest.listing import HowMany, Listed, Listing

Row = dict[str, Any]


class TenantViewSet(GenericViewSet[Any]):
    """Rows of one model in the active tenant.

    For the OpenAPI schema, ``takes`` and ``gives`` name the serializers of requests and responses by action,
    where they differ from the row (``None``: no body). ``tagged`` are the actions whose response has an ETag,
    ``guarded`` those that check ``If-Match``.
    """

    takes: ClassVar[Mapping[str, Any]] = {}
    gives: ClassVar[Mapping[str, Any]] = {}
    tagged: ClassVar[frozenset[str]] = frozenset()
    guarded: ClassVar[frozenset[str]] = frozenset()
    model: type[Any]
    columns: tuple[str, ...]
    computed: ClassVar[Mapping[str, Any]] = {}
    filters: ClassVar[Mapping[str, Filter]] = {}
    thing: str
    lookup_value_regex = "[^/]+"

    def get_queryset(self) -> QuerySet[Any]:
        """Return the model's rows, newest first."""
        queryset: QuerySet[Any] = self.model._default_manager.order_by("-created_at", "-pk")
        return queryset

    def rows(self) -> QuerySet[Any, Row]:
        """Return the rows with the columns of the response."""
        rows: QuerySet[Any, Row] = self.get_queryset().annotate(**self.computed)
        return rows.values(*self.columns, "version")

    def shape(self, row: Row) -> Row:
        """Return the representation of a row."""
        row.pop("version")
        return row

    def row(self, pk: Any) -> Row | None:
        """Return the row with this id, if there is one."""
        return self.rows().filter(pk=pk).first()

    def require_parent(self) -> None:
        """Check that the parent of the path exists. Called only for empty lists.

        Raises:
            NotFound: it does not exist.

        """

    def total(self, rows: QuerySet[Any] | Listed) -> int | None:
        """Return the number of rows of a list, or None to count them in the query of the page."""
        return rows.count()

    def page_of(self, rows: QuerySet[Any, Row] | Listed) -> Response:
        """Return a page of rows."""
        page = self.paginate_queryset(rows)  # type: ignore[arg-type]  # our pagination reads both
        if not page and not self.paginator.total:  # type: ignore[union-attr]  # of our pagination
            self.require_parent()
        return self.get_paginated_response([self.shape(row) for row in page or []])

    def narrowing(self) -> dict[str, str]:
        """Return the filters that the query names, with their values."""
        given = self.request.query_params
        return {name: value for name in self.filters if (value := given.get(name))}

    def filtered(self, rows: QuerySet[Any, Row]) -> QuerySet[Any, Row]:
        """Apply the filters that the query names."""
        for name, value in self.narrowing().items():
            rows = rows.filter(self.filters[name](value))
        return rows

    def get_object(self) -> Any:
        """Return the row of the path.

        Raises:
            NotFound: the tenant has none of this id.

        """
        row = self.get_queryset().filter(pk=self.pk()).first()
        if row is None:
            raise NotFound(f"{self.thing} not found")
        return row

    def pk(self) -> Any:
        """Return the id of the path.

        Raises:
            NotFound: it is malformed.

        """
        pk = self.parsed(self.kwargs["pk"])
        if pk is None:
            raise NotFound(f"{self.thing} not found")
        return pk

    def parsed(self, text: str) -> Any:
        """Return an id from its text, or None if it is malformed."""
        return ids.parse(text)

    def shown(self, pk: Any, *, secret: Mapping[str, str] | None = None) -> Response:
        """Return a row with its ETag.

        Raises:
            NotFound: there is no such row.

        """
        row = self.row(pk)
        if row is None:
            raise NotFound(f"{self.thing} not found")
        headers = {"ETag": etag(pk, row["version"])}
        if secret:
            headers["Cache-Control"] = "no-store"
        return Response({**self.shape(row), **(secret or {})}, headers=headers)

    def validated(self, request: Request, instance: EditableModel | None = None) -> Row:
        """Return the validated fields of the request; with an instance, they may be partial."""
        serializer: BaseSerializer[Any] = self.get_serializer(
            instance, data=request.data, partial=instance is not None
        )
        serializer.is_valid(raise_exception=True)
        checked: Row = serializer.validated_data
        return checked


class ListMixin(TenantViewSet):
    """GET a page of rows, newest first."""

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return a page of rows."""
        if self.kwargs or self.narrowing():
            return self.page_of(self.filtered(self.rows()))
        return self.page_of(Listed(self._all(), self.rows, self.get_queryset))

    @classmethod
    @cache
    def _all(cls) -> Listing:
        """Return the list without a parent and filters."""
        columns = (*cls.columns, "version")
        return Listing(lambda: cls().rows(), columns, lambda: cls().whole())

    def whole(self) -> Any:
        """Return an expression for the number of all rows, without a parent and filters."""
        return HowMany(self.get_queryset())


class ReadViewSet(ListMixin):
    """GET a page of rows, GET one row."""

    tagged = frozenset({"retrieve"})

    def retrieve(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return one row."""
        return self.shown(self.pk())


class CrudViewSet(ReadViewSet):
    """List, read, create, change and delete rows; each change is atomic and audited."""

    tagged = frozenset({"create", "retrieve", "partial_update"})
    guarded = frozenset({"partial_update", "destroy"})

    def create(self, request: Request, *_: Any, **__: Any) -> Response:
        """Create a row."""
        return self.shown(self.perform_create(self.validated(request)))

    def partial_update(self, request: Request, *_: Any, **__: Any) -> Response:
        """Change the fields that were sent."""
        row = self.get_object()
        self.perform_update(row, self.validated(request, row), expected_versions(request, row.pk))
        return self.shown(row.pk)

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
        """Return the audit key of an action on this kind of row."""
        return Event(f"{self.model.__name__}.{verb}")
