"""Compiled statements on the rows of the active tenant: see ``database.statements``.

``build`` is called once per thread. Each run applies to the tenant that is active then. Every other value
that differs between runs must be a ``Parameter``, and the time must be ``Now()``.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql import DeleteQuery, UpdateQuery

from database.batching import Work
from database.parameters import Parameter, Values
from database.statements import Insert, Statement, as_select
from identity.core import tenancy
from identity.core.compiled_statements import (
    TENANT,
    CompiledJoin,
    CompiledRows,
    CompiledTenantStatement,
    CompiledValues,
)

M = TypeVar("M", bound=models.Model)


def text(name: str) -> Parameter:
    """Return a parameter for text."""
    return Parameter(name, models.CharField())


def number(name: str) -> Parameter:
    """Return a parameter for an integer of up to 64 bits."""
    return Parameter(name, models.BigIntegerField())


def flag(name: str) -> Parameter:
    """Return a parameter for true or false."""
    return Parameter(name, models.BooleanField())


def uuid(name: str) -> Parameter:
    """Return a parameter for a UUID."""
    return Parameter(name, models.UUIDField())


def moment(name: str) -> Parameter:
    """Return a parameter for a datetime, UTC."""
    return Parameter(name, models.DateTimeField())


def duration(name: str) -> Parameter:
    """Return a parameter for a timedelta."""
    return Parameter(name, models.DurationField())


class Select(Statement[CompiledRows[M]]):
    """A query for rows."""

    def __init__(self, build: Callable[[], models.QuerySet[M]]) -> None:
        super().__init__()
        self.build: Final = build

    def compile(self, database: BaseDatabaseWrapper) -> CompiledRows[M]:
        with tenancy.using(TENANT):
            return CompiledRows(self.build(), database)

    def first(self, **values: object) -> M | None:
        """Return the first row or None; a query for one row should end with ``[:1]``."""
        return next(iter(self.all(**values)), None)

    def all(self, **values: object) -> list[M]:
        """Return all rows."""
        return self.for_this_thread().fetch(self.bind(**values))

    def bind(self, **values: object) -> Sequence[Any]:
        """Return the parameters for these values and the active tenant, as the adapter expects them."""
        return self.for_this_thread().bind(values)

    def find(self, **values: object) -> Work[M | None]:
        """Return the first row or None, as work that can be done together with that of other requests."""
        return self.find_bound(self.bind(**values))

    def find_bound(self, parameters: Sequence[Any]) -> Work[M | None]:
        """Return the same as ``find``, for parameters that ``bind`` returned."""
        compiled = self.for_this_thread()
        outcome = yield compiled.call(parameters)
        return next(iter(compiled.load(outcome.rows)), None)


class JoinedSelects(Statement[CompiledJoin]):
    """Several queries as one statement. All but one are for one row, and end with ``[:1]``."""

    def __init__(self, *selects: Select[Any]) -> None:
        super().__init__()
        self._selects: Final = selects

    def compile(self, database: BaseDatabaseWrapper) -> CompiledJoin:
        return CompiledJoin([select.compile(database) for select in self._selects], database)

    def all(self, **values: object) -> list[list[Any]]:
        """Return the rows, at least one. Each has an instance for each query.

        The instance is None if the query found none.
        """
        return self.for_this_thread().fetch(values)


class SelectValues(Statement[CompiledValues]):
    """A query for the values of columns, as ``values_list`` returns them. It can be read in slices."""

    def __init__(self, build: Callable[[], models.QuerySet[Any, Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def compile(self, database: BaseDatabaseWrapper) -> CompiledValues:
        with tenancy.using(TENANT):
            return CompiledValues(self.build(), database)

    def all(self, **values: object) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self.for_this_thread().fetch(values, 0, None)

    def find_all(self, **values: object) -> Work[list[tuple[Any, ...]]]:
        """Return all rows, as work that can be done together with that of other requests."""
        compiled = self.for_this_thread()
        outcome = yield compiled.call(compiled.bind(values))
        return compiled.load(outcome.rows)

    def slice(self, start: int, stop: int, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows from ``start`` up to, not including, ``stop``."""
        return self.for_this_thread().fetch(values, start, stop)


class _Change(Statement[CompiledTenantStatement]):
    """A statement that returns the number of rows it changed."""

    def __call__(self, **values: object) -> int:
        """Run the statement and return the number of rows it changed."""
        compiled = self.for_this_thread()
        with compiled.cursor() as cursor:
            compiled.execute(cursor, values)
            return int(cursor.rowcount)


class Update(_Change):
    """An UPDATE of rows of one table."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]], **changes: object) -> None:
        super().__init__()
        self.build: Final = build
        self.changes: Final = changes

    def compile(self, database: BaseDatabaseWrapper) -> CompiledTenantStatement:
        with tenancy.using(TENANT):
            query: Any = self.build().query.chain(UpdateQuery)
            query.add_update_values(self.changes)
            sql, params = query.get_compiler(connection=database).as_sql()
        return CompiledTenantStatement(sql, params, database)


class Delete(_Change):
    """A DELETE of rows of one table, to which no foreign keys refer."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def compile(self, database: BaseDatabaseWrapper) -> CompiledTenantStatement:
        with tenancy.using(TENANT):
            query: Any = self.build().query.chain(DeleteQuery)
            sql, params = query.get_compiler(connection=database).as_sql()
        return CompiledTenantStatement(sql, params, database)


class ConditionalInsert(Statement[CompiledTenantStatement]):
    """An INSERT of a row that happens only if a query finds a row."""

    def __init__(self, insert: Insert, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.insert: Final = insert
        self.build: Final = build

    def compile(self, database: BaseDatabaseWrapper) -> CompiledTenantStatement:
        insert = self.insert.compile(database)
        with tenancy.using(TENANT):
            query: Any = self.build().values(found=models.Value(1)).query
            sql, params = query.get_compiler(connection=database).as_sql()
        statement = f"{as_select(insert.sql)} WHERE EXISTS ({sql})"
        return CompiledTenantStatement(statement, [*insert.params, *params], database)

    def __call__(self, row: models.Model, **values: object) -> bool:
        """Insert the row if the query finds a row for ``values``. Return whether the row was inserted."""
        compiled = self.for_this_thread()
        return bool(compiled.execute_alone(compiled.bind(vars(row) | values)).count)

    def repeat(self, bound: Sequence[Any], changes: Values) -> Work[bool]:
        """Return the same insertion as work, for parameters that ``bind`` returned, with these changes."""
        compiled = self.for_this_thread()
        outcome = yield compiled.call(compiled.rebind(bound, changes))
        return bool(outcome.count)
