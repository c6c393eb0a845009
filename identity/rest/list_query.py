"""Queries of lists that are compiled once: see ``tenant_statements``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import IntegerField, QuerySet, Subquery

from identity.core.tenant_statements import SelectValues

Row = dict[str, Any]


class CountSubquery(Subquery):
    """The number of rows of a query, as a subquery."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS found)"
    output_field = IntegerField()

    def __init__(self, queryset: QuerySet[Any]) -> None:
        super().__init__(queryset.order_by().values("pk"))


class ListQuery:
    """A compiled query for the columns of a list, in the order of the query that ``build`` returns.

    The query may contain a ``Parameter``. ``total`` returns an expression for the number of all rows.
    """

    def __init__(
        self, build: Callable[[], QuerySet[Any]], columns: tuple[str, ...], total: Callable[[], Any]
    ) -> None:
        self.columns: Final = columns
        self._with_total: Final = SelectValues(
            lambda: build().annotate(total_rows=total()).values_list(*columns, "total_rows")
        )
        self._forwards: Final = SelectValues(lambda: build().values_list(*columns))
        self._backwards: Final = SelectValues(lambda: build().reverse().values_list(*columns))

    def slice_with_total(
        self, start: int, stop: int, values: Mapping[str, Any]
    ) -> tuple[list[Row], int | None]:
        """Return a slice of the rows and the number of all rows, which is None if the slice is empty."""
        found = self._with_total.slice(start, stop, **values)
        rows = [dict(zip(self.columns, row, strict=False)) for row in found]
        return rows, found[0][-1] if found else None

    def slice(self, start: int, stop: int, values: Mapping[str, Any], *, is_backwards: bool) -> list[Row]:
        """Return a slice of the rows, or of the rows in reverse order."""
        statement = self._backwards if is_backwards else self._forwards
        return [dict(zip(self.columns, row, strict=True)) for row in statement.slice(start, stop, **values)]


class BoundListQuery:
    """A list query with the values of its parameters.

    Pages far from the beginning are read with the ORM. For them ``rows`` returns the query, and ``keys`` a
    query for the same rows that reads no other table.
    """

    def __init__(
        self,
        query: ListQuery,
        rows: Callable[[], QuerySet[Any, Any]],
        keys: Callable[[], QuerySet[Any, Any]],
        **values: Any,
    ) -> None:
        self._query: Final = query
        self._values: Final = values
        self.rows: Final = rows
        self.keys: Final = keys

    def count(self) -> int:
        """Return the number of all rows."""
        return self.keys().count()

    def slice_with_total(self, start: int, stop: int) -> tuple[list[Row], int | None]:
        """Return a slice of the rows and the number of all rows, which is None if the slice is empty."""
        return self._query.slice_with_total(start, stop, self._values)

    def slice(self, start: int, stop: int, *, is_backwards: bool) -> list[Row]:
        """Return a slice of the rows, or of the rows in reverse order."""
        return self._query.slice(start, stop, self._values, is_backwards=is_backwards)
