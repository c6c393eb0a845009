"""Lists whose statements are compiled once: see ``tenant_statements``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import IntegerField, QuerySet, Subquery

from identity.core.tenant_statements import SelectValues

Row = dict[str, Any]


class HowMany(Subquery):
    """The number of rows of a query, as a subquery."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS found)"
    output_field = IntegerField()

    def __init__(self, queryset: QuerySet[Any]) -> None:
        super().__init__(queryset.order_by().values("pk"))


class Listing:
    """A list of rows by columns, in the order of the query. Values of a run are ``Parameter``.

    ``total`` is an expression for the number of all rows.
    """

    def __init__(
        self, build: Callable[[], QuerySet[Any]], columns: tuple[str, ...], total: Callable[[], Any]
    ) -> None:
        self.columns: Final = columns
        self._beginning: Final = SelectValues(
            lambda: build().annotate(in_all=total()).values_list(*columns, "in_all")
        )
        self._forwards: Final = SelectValues(lambda: build().values_list(*columns))
        self._backwards: Final = SelectValues(lambda: build().reverse().values_list(*columns))

    def beginning(self, first: int, after: int, values: Mapping[str, Any]) -> tuple[list[Row], int | None]:
        """Return the rows from one place up to another, and how many there are in all, if there are any."""
        found = self._beginning.part(first, after, **values)
        rows = [dict(zip(self.columns, row, strict=False)) for row in found]
        return rows, found[0][-1] if found else None

    def part(self, first: int, after: int, values: Mapping[str, Any], *, is_backwards: bool) -> list[Row]:
        """Return the rows from one place up to another, counted from the end where that is said."""
        statement = self._backwards if is_backwards else self._forwards
        return [dict(zip(self.columns, row, strict=True)) for row in statement.part(first, after, **values)]


class Listed:
    """A listing with the values of one run.

    For pages without a compiled statement, ``rows`` is the query itself, and ``keys`` is a query for the same
    rows that reads no other table.
    """

    def __init__(
        self,
        listing: Listing,
        rows: Callable[[], QuerySet[Any, Any]],
        keys: Callable[[], QuerySet[Any, Any]],
        **values: Any,
    ) -> None:
        self._listing: Final = listing
        self._values: Final = values
        self.rows: Final = rows
        self.keys: Final = keys

    def count(self) -> int:
        """Return the number of all rows."""
        return self.keys().count()

    def beginning(self, first: int, after: int) -> tuple[list[Row], int | None]:
        """Return the rows from one place up to another, and how many there are in all, if there are any."""
        return self._listing.beginning(first, after, self._values)

    def part(self, first: int, after: int, *, is_backwards: bool) -> list[Row]:
        """Return the rows from one place up to another, counted from the end where that is said."""
        return self._listing.part(first, after, self._values, is_backwards=is_backwards)
