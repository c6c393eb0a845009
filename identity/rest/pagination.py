"""Pages of lists: ``{data, total, page, page_size}``."""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from django.db.models import Count, QuerySet, Window
from django.db.models.functions import Coalesce
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.list_query import BoundListQuery

T = TypeVar("T")

_PAGE_SIZE: Final = 20
_LARGEST: Final = 100
_LAST_PAGE: Final = 2**31 // _LARGEST
_MOST_DIGITS: Final = 10  # more than any list has pages
_FAR: Final = 100  # the offset from which on only ids are skipped
_VERY_FAR: Final = 5_000  # the offset from which on the view is asked for a seek hint


def number(request: Request, name: str, default: int) -> int:
    """Return a positive whole number from the query. Very large numbers are capped.

    Raises:
        ValidationError: the parameter is not a positive whole number.

    """
    text = request.query_params.get(name, str(default))
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdigit() and digits):
        raise ValidationError({name: "must be a whole number of at least 1"})
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


class EnvelopePagination(BasePagination):
    """Pages by number. A page past the end is empty and has the true total.

    A view may define two methods. ``total`` returns the number of rows. ``seek_hint`` returns the older part
    of the list, which contains the page, and the number of rows to skip there.
    """

    total: int
    page: int
    page_size: int
    is_backwards = False

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the requested page.

        Raises:
            ValidationError: a query parameter is malformed.

        """
        count: Any = getattr(view, "total", QuerySet.count)
        self._read_query(request)
        if isinstance(queryset, BoundListQuery) and self._start < _FAR:
            rows, total = queryset.slice_with_total(self._start, self._start + self.page_size)
            if total is None:  # no row has the total: the list is empty or ends before the page
                total = count(queryset) if self._start else 0
            self.total = total
            return rows
        total = count(queryset)
        if total is None:
            return self._count_and_read(queryset)
        seek_hint = getattr(view, "seek_hint", None)
        if isinstance(queryset, BoundListQuery):
            page = self._page_of_query(queryset, total, seek_hint)
        else:
            page = self._page_of_queryset(queryset, total, seek_hint)
        return list(page)[::-1] if self.is_backwards else list(page)

    def window(self, queryset: QuerySet[Any, T], request: Request) -> QuerySet[Any, T]:
        """Return the requested page as an unevaluated queryset, in any order.

        Raises:
            ValidationError: a query parameter is malformed.

        """
        self._read_query(request)
        return self._page_of_queryset(queryset, queryset.count())

    def _read_query(self, request: Request) -> None:
        for name, value in request.query_params.items():
            if "\0" in value:
                raise ValidationError({name: "must not contain a NUL character"})
        self.page = min(number(request, "page", 1), _LAST_PAGE)
        self.page_size = min(number(request, "page_size", _PAGE_SIZE), _LARGEST)

    @property
    def _start(self) -> int:
        return (self.page - 1) * self.page_size

    def _bounds(self, total: int) -> tuple[int, int]:
        """Return the bounds of the page from the nearer end, because the database reads all skipped rows."""
        self.total = total
        start, stop = min(self._start, total), min(self._start + self.page_size, total)
        self.is_backwards = total // 2 < start < total
        return (total - stop, total - start) if self.is_backwards else (start, stop)

    def _page_of_queryset(
        self, queryset: QuerySet[Any, T], total: int, seek_hint: Any = None
    ) -> QuerySet[Any, T]:
        start, stop = self._bounds(total)
        if start == stop:
            return queryset.none()
        queryset, start, stop = self._nearest(queryset, start, stop, total, seek_hint)
        if start < _FAR:
            return queryset[start:stop]
        # The index of the order contains the ids, so the table is read only for the rows of the page.
        return queryset.filter(pk__in=queryset.values("pk")[start:stop])

    def _nearest(
        self, queryset: QuerySet[Any, T], start: int, stop: int, total: int, seek_hint: Any
    ) -> tuple[QuerySet[Any, T], int, int]:
        """Return the query that skips fewest rows, and the bounds of the page in it: see ``seek_hint``."""
        hint = seek_hint(queryset, self._start, total) if seek_hint and start >= _VERY_FAR else None
        if hint is not None and hint[1] < start:
            self.is_backwards = False
            older, skipped = hint
            return older, skipped, skipped + stop - start
        return queryset.reverse() if self.is_backwards else queryset, start, stop

    def _page_of_query(self, query: BoundListQuery, total: int, seek_hint: Any) -> Iterable[Any]:
        start, stop = self._bounds(total)
        if start == stop:
            return ()
        if start < _FAR:
            return query.slice(start, stop, is_backwards=self.is_backwards)
        keys, start, stop = self._nearest(query.keys(), start, stop, total, seek_hint)
        rows = query.rows().reverse() if self.is_backwards else query.rows()
        return rows.filter(pk__in=keys.values("pk")[start:stop])

    def _count_and_read(self, queryset: QuerySet[Any]) -> list[Any]:
        """Count all matching rows and return those of the page.

        Sorting by an expression keeps PostgreSQL from using the index of the order. With a small LIMIT it
        might scan all rows from the newest on until it has found enough matches.
        """
        newest_first = Coalesce("created_at", "created_at").desc()
        matches = queryset.annotate(matches=Window(Count("pk"))).order_by(newest_first, "-pk")
        page = list(matches.values_list("pk", "matches")[self._start : self._start + self.page_size])
        if not page:
            self.total = queryset.count() if self._start else 0
            return []
        self.total = page[0][1]
        return list(queryset.filter(pk__in=[pk for pk, _ in page]))

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page with its total and numbers."""
        return Response({"data": data, "total": self.total, "page": self.page, "page_size": self.page_size})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the OpenAPI schema of a page."""
        count = {"type": "integer", "minimum": 0}
        return {
            "type": "object",
            "required": ["data", "total", "page", "page_size"],
            "properties": {"data": schema, "total": count, "page": count, "page_size": count},
        }
