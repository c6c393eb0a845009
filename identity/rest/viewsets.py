"""The kit that endpoints are declared with: rows of the active tenant, to list, read and edit.

Input goes through serializers, which also describe answers for the API's documentation.
Answers are rows of plain values in the order of ``columns``, which is many times cheaper
than building an object a row.
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

    For the API's documentation ``takes`` and ``gives`` name, by action, the serializers of
    what is not the row itself (``None``: nothing); ``tagged`` are the actions that answer
    with an ETag, ``guarded`` those that heed ``If-Match``.
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
        """Return what answers are made of."""
        rows: QuerySet[Any, Row] = self.get_queryset().annotate(**self.computed)
        return rows.values(*self.columns, "version")

    def shape(self, row: Row) -> Row:
        """Return a row as the answer shows it."""
        row.pop("version")
        return row

    def row(self, pk: Any) -> Row | None:
        """Return the row of an id, if there is one."""
        return self.rows().filter(pk=pk).first()

    def require_parent(self) -> None:
        """Check what the path hangs these rows on; asked only where it has none to show.

        Raises:
            NotFound: there is no such thing.

        """

    def total(self, rows: QuerySet[Any] | Listed) -> int | None:
        """Return how many rows a list has; nothing where they are to be counted as they are found."""
        return rows.count()

    def page_of(self, rows: QuerySet[Any, Row] | Listed) -> Response:
        """Answer with a page of rows."""
        page = self.paginate_queryset(rows)  # type: ignore[arg-type]  # our pagination reads both
        if not page and not self.paginator.total:  # type: ignore[union-attr]  # of our pagination
            self.require_parent()
        return self.get_paginated_response([self.shape(row) for row in page or []])

    def narrowing(self) -> dict[str, str]:
        """Return the filters that the query names, and what they look for."""
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
            NotFound: it is no id at all.

        """
        pk = self.parsed(self.kwargs["pk"])
        if pk is None:
            raise NotFound(f"{self.thing} not found")
        return pk

    def parsed(self, text: str) -> Any:
        """Return an id from its text; nothing for what is no id."""
        return ids.parse(text)

    def shown(self, pk: Any, *, secret: Mapping[str, str] | None = None) -> Response:
        """Answer with a row and its ETag, or 404."""
        row = self.row(pk)
        if row is None:
            raise NotFound(f"{self.thing} not found")
        headers = {"ETag": etag(pk, row["version"])}
        if secret:
            headers["Cache-Control"] = "no-store"
        return Response({**self.shape(row), **(secret or {})}, headers=headers)

    def validated(self, request: Request, instance: EditableModel | None = None) -> Row:
        """Return what was sent, checked; a PATCH need not send everything."""
        serializer: BaseSerializer[Any] = self.get_serializer(
            instance, data=request.data, partial=instance is not None
        )
        serializer.is_valid(raise_exception=True)
        checked: Row = serializer.validated_data
        return checked


class ListMixin(TenantViewSet):
    """GET a page of rows, newest first."""

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Answer with a page."""
        if self.kwargs or self.narrowing():
            return self.page_of(self.filtered(self.rows()))
        return self.page_of(Listed(self._all(), self.rows, self.get_queryset))

    @classmethod
    @cache
    def _all(cls) -> Listing:
        """Return the list that nothing narrows, neither the path nor a filter."""
        columns = (*cls.columns, "version")
        return Listing(lambda: cls().rows(), columns, lambda: cls().whole())

    def whole(self) -> Any:
        """Return what says, as a part of a query, how many rows there are where nothing narrows the list."""
        return HowMany(self.get_queryset())


class ReadViewSet(ListMixin):
    """GET a page, GET one."""

    tagged = frozenset({"retrieve"})

    def retrieve(self, request: Request, *_: Any, **__: Any) -> Response:
        """Answer with one row."""
        return self.shown(self.pk())


class CrudViewSet(ReadViewSet):
    """The five things that are done to rows, each atomic and audited."""

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
        """Create a row of checked fields and return its id. Services stand in for it."""
        row = self.model(**fields)
        records.create(row, event=self.event("Create"), name=fields.get("name", ""))
        return row.pk

    def perform_update(self, row: Any, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a row by checked fields. Services stand in for it."""
        records.change(row, fields, event=self.event("Update"), expected=expected)

    def perform_destroy(self, row: Any, expected: frozenset[int] | None) -> None:
        """Delete a row. Services stand in for it."""
        records.remove(row, event=self.event("Delete"), expected=expected)

    def event(self, verb: str) -> Event:
        """Return the audit key of what is done to this kind of row."""
        return Event(f"{self.model.__name__}.{verb}")
