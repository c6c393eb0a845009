"""Pages of lists: ``{data, total, page, page_size}``."""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from django.db.models import Count, QuerySet, Window
from django.db.models.functions import Coalesce
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.listing import Listed

T = TypeVar("T")

_PAGE_SIZE: Final = 20
_LARGEST: Final = 100
_LAST_PAGE: Final = 2**31 // _LARGEST
_MOST_DIGITS: Final = 10  # more than any list has pages
_FAR: Final = 100  # skipped rows from which on ids are selected first
_VERY_FAR: Final = 5_000  # skipped rows from which on the view is asked for a nearer start


def number(request: Request, name: str, default: int) -> int:
    """Return a positive whole number from the query, capped to what a list can have.

    Raises:
        ValidationError: it is not a positive whole number.

    """
    text = request.query_params.get(name, str(default))
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdigit() and digits):
        raise ValidationError({name: "must be a whole number of at least 1"})
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


class EnvelopePagination(BasePagination):
    """Pages by number. A page past the end is empty and has the true total.

    A view's ``total`` may return the number of rows, and its ``nearer`` a part of the list in which fewer
    rows must be skipped.
    """

    total: int
    page: int
    page_size: int
    is_backwards = False

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the page that the query names."""
        count: Any = getattr(view, "total", QuerySet.count)
        self._read(request)
        if isinstance(queryset, Listed) and self._start < _FAR:
            beginning, total = queryset.beginning(self._start, self._start + self.page_size)
            if total is None:  # no row has the total: the list is empty or ends before the page
                total = count(queryset) if self._start else 0
            self.total = total
            return beginning
        total = count(queryset)
        if total is None:
            return self._found(queryset)
        if isinstance(queryset, Listed):
            rows = self._listed(queryset, total)
        else:
            rows = self._part(queryset, total, getattr(view, "nearer", None))
        return list(rows)[::-1] if self.is_backwards else list(rows)

    def window(self, queryset: QuerySet[Any, T], request: Request) -> QuerySet[Any, T]:
        """Return the unevaluated part of a list that the query names, in any order.

        Raises:
            ValidationError: a query parameter is malformed.

        """
        self._read(request)
        return self._part(queryset, queryset.count())

    def _read(self, request: Request) -> None:
        for name, value in request.query_params.items():
            if "\0" in value:
                raise ValidationError({name: "must not contain a NUL character"})
        self.page = min(number(request, "page", 1), _LAST_PAGE)
        self.page_size = min(number(request, "page_size", _PAGE_SIZE), _LARGEST)

    @property
    def _start(self) -> int:
        return (self.page - 1) * self.page_size

    def _places(self, total: int) -> tuple[int, int]:
        """Return start and end of the page, from the nearer end, because skipped rows are read."""
        self.total = total
        first, after = min(self._start, total), min(self._start + self.page_size, total)
        self.is_backwards = total // 2 < first < total
        return (total - after, total - first) if self.is_backwards else (first, after)

    def _part(self, queryset: QuerySet[Any, T], total: int, nearer: Any = None) -> QuerySet[Any, T]:
        first, after = self._places(total)
        if first == after:
            return queryset.none()
        found = nearer(queryset, self._start, total) if nearer and first >= _VERY_FAR else None
        if found is not None:
            queryset, skipped = found
            first, after, self.is_backwards = skipped, skipped + after - first, False
        if self.is_backwards:
            queryset = queryset.reverse()
        if first < _FAR:
            return queryset[first:after]
        # The index of the order has the ids, so only rows of the page are looked up.
        return queryset.filter(pk__in=queryset.values("pk")[first:after])

    def _listed(self, listed: Listed, total: int) -> Iterable[Any]:
        first, after = self._places(total)
        if first == after:
            return ()
        if first < _FAR:
            return listed.part(first, after, is_backwards=self.is_backwards)
        rows, keys = listed.rows(), listed.keys()
        if self.is_backwards:
            rows, keys = rows.reverse(), keys.reverse()
        return rows.filter(pk__in=keys.values("pk")[first:after])

    def _found(self, queryset: QuerySet[Any]) -> list[Any]:
        """Count all matching rows and return those of the page.

        The order is an expression, so that PostgreSQL cannot use the index of the order: for a small LIMIT
        it might scan all rows from the newest until it has found enough matches.
        """
        newest_first = Coalesce("created_at", "created_at").desc()
        matches = queryset.annotate(matches=Window(Count("pk"))).order_by(newest_first, "-pk")
        found = list(matches.values_list("pk", "matches")[self._start : self._start + self.page_size])
        if not found:
            self.total = queryset.count() if self._start else 0
            return []
        self.total = found[0][1]
        return list(queryset.filter(pk__in=[pk for pk, _ in found]))

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page."""
        return Response({"data": data, "total": self.total, "page": self.page, "page_size": self.page_size})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe the page for the API's documentation."""
        count = {"type": "integer", "minimum": 0}
        return {
            "type": "object",
            "required": ["data", "total", "page", "page_size"],
            "properties": {"data": schema, "total": count, "page": count, "page_size": count},
        }
