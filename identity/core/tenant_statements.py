"""Statements of hot paths on the rows of a tenant: see ``database.statements``.

What ``build`` returns is written once, for whichever tenant is active when it runs. It must not depend
on the moment otherwise: what is now, the database says (``Now()``), and all else is ``Given``.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import get_related_populators
from django.db.models.sql import DeleteQuery, UpdateQuery

from database.statements import Given, Insert, Prepared, Source, Statement, Values, as_select
from identity.core import tenancy

M = TypeVar("M", bound=models.Model)

_populators: Final[Any] = get_related_populators  # the stubs describe a later Django
_TENANT: Final = tenancy.ActiveTenant("\0the tenant of the run", "")


def text(name: str) -> Given:
    """Expect a text."""
    return Given(name, models.CharField())


def number(name: str) -> Given:
    """Expect an integer of up to 64 bits, as ids are."""
    return Given(name, models.BigIntegerField())


def uuid(name: str) -> Given:
    """Expect a UUID."""
    return Given(name, models.UUIDField())


def moment(name: str) -> Given:
    """Expect a datetime, UTC."""
    return Given(name, models.DateTimeField())


def duration(name: str) -> Given:
    """Expect a timedelta."""
    return Given(name, models.DurationField())


class _OfTenant(Prepared):
    """A statement on the rows of the tenant that is active when it runs.

    Raises (when it runs):
        NoActiveTenant: no tenant is active, or all are.

    """

    def filled(self, values: Values) -> list[Any]:
        return super().filled({**values, _TENANT.id: tenancy.active_id()})

    def source(self, param: Any) -> Source:
        is_tenant = isinstance(param, str) and param == _TENANT.id
        return itemgetter(_TENANT.id) if is_tenant else super().source(param)


class _Rows(_OfTenant, Generic[M]):
    """A SELECT, and how its rows become objects."""

    def __init__(self, queryset: models.QuerySet[M], database: BaseDatabaseWrapper) -> None:
        compiler: Any = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        super().__init__(sql, params, database)
        columns = [selected[0] for selected in compiler.select]
        places = compiler.klass_info["select_fields"]
        self.compiler: Final = compiler
        self.converters: Final = compiler.get_converters(columns)
        self.own: Final = slice(places[0], places[-1] + 1)
        self.names: Final = [column.target.attname for column in columns[self.own]]
        self.related: Final = _populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)
        self.annotations: Final = list(compiler.annotation_col_map.items())
        self.model: Final = queryset.model

    def fetch(self, values: Values) -> list[M]:
        with self.database.cursor() as cursor:
            self.execute(cursor, values)
            rows = cursor.fetchall()
        if self.converters:
            rows = list(self.compiler.apply_converters(rows, self.converters))
        return [self._object(row) for row in rows]

    def _object(self, row: tuple[Any, ...]) -> M:
        found = self.model.from_db(DEFAULT_DB_ALIAS, self.names, row[self.own])
        for populator in self.related:
            populator.populate(row, found)
        for name, place in self.annotations:
            setattr(found, name, row[place])
        return found


class Select(Statement[_Rows[M]]):
    """A query for rows."""

    def __init__(self, build: Callable[[], models.QuerySet[M]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _Rows[M]:
        """Put it into SQL."""
        with tenancy.using(_TENANT):
            return _Rows(self.build(), database)

    def first(self, **values: object) -> M | None:
        """Return the first row that it finds now, or nothing; a query for one should end with ``[:1]``."""
        return next(iter(self.prepared().fetch(values)), None)

    def all(self, **values: object) -> list[M]:
        """Return what it finds now."""
        return self.prepared().fetch(values)


class _Tuples(_OfTenant):
    """A SELECT of values."""

    def __init__(self, queryset: models.QuerySet[Any, Any], database: BaseDatabaseWrapper) -> None:
        compiler: Any = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        super().__init__(sql, params, database)
        self.compiler: Final = compiler
        self.converters: Final = compiler.get_converters([selected[0] for selected in compiler.select])

    def fetch(self, values: Values, first: int, after: int | None) -> list[tuple[Any, ...]]:
        part = self.database.ops.limit_offset_sql(first, after)
        sql = f"{self.sql} {part}" if part else self.sql
        with self.database.cursor() as cursor:
            cursor.execute(sql, self.filled(values))
            rows = cursor.fetchall()
        return list(self.compiler.apply_converters(rows, self.converters)) if self.converters else rows


class Tuples(Statement[_Tuples]):
    """A query for values, as ``values_list`` gives them, of a list that can be read in parts."""

    def __init__(self, build: Callable[[], models.QuerySet[Any, Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _Tuples:
        """Put it into SQL."""
        with tenancy.using(_TENANT):
            return _Tuples(self.build(), database)

    def all(self, **values: object) -> list[tuple[Any, ...]]:
        """Return what it finds now."""
        return self.prepared().fetch(values, 0, None)

    def part(self, first: int, after: int, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of the list from one place up to another."""
        return self.prepared().fetch(values, first, after)


class _Change(Statement[_OfTenant]):
    """A statement that says how many rows it changed."""

    def __call__(self, **values: object) -> int:
        """Run it and return how many rows it changed."""
        prepared = self.prepared()
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, values)
            return int(cursor.rowcount)


class Update(_Change):
    """An UPDATE of rows of one table."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]], **changes: object) -> None:
        super().__init__()
        self.build: Final = build
        self.changes: Final = changes

    def prepare(self, database: BaseDatabaseWrapper) -> _OfTenant:
        """Put it into SQL."""
        with tenancy.using(_TENANT):
            query: Any = self.build().query.chain(UpdateQuery)
            query.add_update_values(self.changes)
            sql, params = query.get_compiler(connection=database).as_sql()
        return _OfTenant(sql, params, database)


class Delete(_Change):
    """A DELETE of rows of one table, to which no other row points."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _OfTenant:
        """Put it into SQL."""
        with tenancy.using(_TENANT):
            query: Any = self.build().query.chain(DeleteQuery)
            sql, params = query.get_compiler(connection=database).as_sql()
        return _OfTenant(sql, params, database)


class InsertIf(Statement[_OfTenant]):
    """An INSERT of a row that happens only if a query finds something at that moment."""

    def __init__(self, insert: Insert, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.insert: Final = insert
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _OfTenant:
        """Put it into SQL."""
        insert = self.insert.prepare(database)
        with tenancy.using(_TENANT):
            query: Any = self.build().values(found=models.Value(1)).query
            sql, params = query.get_compiler(connection=database).as_sql()
        statement = f"{as_select(insert.sql)} WHERE EXISTS ({sql})"
        return _OfTenant(statement, [*insert.params, *params], database)

    def __call__(self, row: models.Model, **values: object) -> bool:
        """Insert the row and say so, or insert nothing. ``values`` are those of the query."""
        prepared = self.prepared()
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, vars(row) | values)
            return bool(cursor.rowcount)
