"""Pages of lists: ``{data, total, page, page_size}``."""

from typing import Any, Final, TypeVar

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

T = TypeVar("T")

_PAGE_SIZE: Final = 20
_LARGEST: Final = 100
_LAST_PAGE: Final = 2**31 // _LARGEST


def number(request: Request, name: str, default: int) -> int:
    """Return a positive whole number of the query.

    Raises:
        ValidationError: it is something else.

    """
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) < 1:  # noqa: PLR2004
        raise ValidationError({name: "must be a whole number of at least 1"})
    return int(text)


class EnvelopePagination(BasePagination):
    """Pages by number. A page past the end is empty and tells the true total."""

    total: int
    page: int
    page_size: int

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the page that the query names."""
        return list(self.window(queryset, request))

    def window(self, queryset: QuerySet[Any, T], request: Request) -> QuerySet[Any, T]:
        """Return the part of a list that the query names, which is yet to be read.

        Raises:
            ValidationError: the query is no query of a list.

        """
        for name, value in request.query_params.items():
            if "\0" in value:
                raise ValidationError({name: "must not contain a NUL character"})
        self.page = min(number(request, "page", 1), _LAST_PAGE)
        self.page_size = min(number(request, "page_size", _PAGE_SIZE), _LARGEST)
        self.total = queryset.count()
        start = (self.page - 1) * self.page_size
        if start >= self.total:
            return queryset.none()
        return queryset[start : start + self.page_size]

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
