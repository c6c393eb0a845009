"""Compiled statements on the rows of the active tenant: see ``database.statements``.

``build`` is called once per thread. Each run applies to the tenant that is active then. Every other value
that differs between runs must be a ``Parameter``, and the time must be ``Now()``.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import get_related_populators
from django.db.models.sql import DeleteQuery, UpdateQuery

from database.rows import Loader
from database.statements import Insert, Parameter, Prepared, Source, Statement, Values, as_select
from identity.core import tenancy

M = TypeVar("M", bound=models.Model)

_populators: Final[Any] = get_related_populators  # the stubs describe a later Django
_TENANT: Final = tenancy.ActiveTenant("\0the tenant of the run", "")


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


class _TenantStatement(Prepared):
    """A statement on the rows of the tenant that is active when it runs.

    Raises (when it runs):
        NoActiveTenant: no tenant is active, or all are.

    """

    def bind(self, values: Values) -> list[Any]:
        return super().bind({**values, _TENANT.id: tenancy.active_id()})

    def source(self, param: Any) -> Source:
        is_tenant = isinstance(param, str) and param == _TENANT.id
        return itemgetter(_TENANT.id) if is_tenant else super().source(param)


class _CompiledRows(_TenantStatement, Generic[M]):
    """A compiled SELECT that returns model instances."""

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
        _replace_models(self.related)
        self.annotations: Final = list(compiler.annotation_col_map.items())
        self.loader: Final = Loader(queryset.model)

    def fetch(self, parameters: Sequence[Any]) -> list[M]:
        with self.cursor() as cursor:
            cursor.execute(self.sql, parameters)
            rows = cursor.fetchall()
        converted = self.compiler.apply_converters(rows, self.converters) if self.converters else rows
        return [self._object(row) for row in converted]

    def _object(self, row: tuple[Any, ...]) -> M:
        found: M = self.loader.from_db(DEFAULT_DB_ALIAS, self.names, row[self.own])
        for populator in self.related:
            populator.populate(row, found)
        for name, place in self.annotations:
            setattr(found, name, row[place])
        return found


def _replace_models(populators: list[Any]) -> None:
    for populator in populators:
        populator.model_cls = Loader(populator.model_cls)
        _replace_models(populator.related_populators)


class Select(Statement[_CompiledRows[M]]):
    """A query for rows."""

    def __init__(self, build: Callable[[], models.QuerySet[M]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _CompiledRows[M]:
        """Compile the statement."""
        with tenancy.using(_TENANT):
            return _CompiledRows(self.build(), database)

    def first(self, **values: object) -> M | None:
        """Return the first row or None; a query for one row should end with ``[:1]``."""
        return self.first_bound(self.bind(**values))

    def all(self, **values: object) -> list[M]:
        """Return all rows."""
        return self.prepared().fetch(self.bind(**values))

    def bind(self, **values: object) -> Sequence[Any]:
        """Return what the database adapter gets for these values and the active tenant."""
        return self.prepared().bind(values)

    def first_bound(self, parameters: Sequence[Any]) -> M | None:
        """Return the first row or None, for what ``bind`` returned."""
        return next(iter(self.prepared().fetch(parameters)), None)


class _CompiledValues(_TenantStatement):
    """A compiled SELECT of values."""

    def __init__(self, queryset: models.QuerySet[Any, Any], database: BaseDatabaseWrapper) -> None:
        compiler: Any = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        super().__init__(sql, params, database)
        self.compiler: Final = compiler
        self.converters: Final = compiler.get_converters([selected[0] for selected in compiler.select])

    def fetch(self, values: Values, start: int, stop: int | None) -> list[tuple[Any, ...]]:
        limit = self.database.ops.limit_offset_sql(start, stop)
        # A slice is another statement for each offset.
        with self.database.cursor() if limit else self.cursor() as cursor:
            cursor.execute(f"{self.sql} {limit}" if limit else self.sql, self.bind(values))
            rows = cursor.fetchall()
        return list(self.compiler.apply_converters(rows, self.converters)) if self.converters else rows


class SelectValues(Statement[_CompiledValues]):
    """A query for the values of columns, as ``values_list`` returns them. It can be read in slices."""

    def __init__(self, build: Callable[[], models.QuerySet[Any, Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _CompiledValues:
        """Compile the statement."""
        with tenancy.using(_TENANT):
            return _CompiledValues(self.build(), database)

    def all(self, **values: object) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self.prepared().fetch(values, 0, None)

    def slice(self, start: int, stop: int, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows from ``start`` up to, not including, ``stop``."""
        return self.prepared().fetch(values, start, stop)


class _Change(Statement[_TenantStatement]):
    """A statement that returns the number of rows it changed."""

    def __call__(self, **values: object) -> int:
        """Run the statement and return the number of rows it changed."""
        prepared = self.prepared()
        with prepared.cursor() as cursor:
            prepared.execute(cursor, values)
            return int(cursor.rowcount)


class Update(_Change):
    """An UPDATE of rows of one table."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]], **changes: object) -> None:
        super().__init__()
        self.build: Final = build
        self.changes: Final = changes

    def prepare(self, database: BaseDatabaseWrapper) -> _TenantStatement:
        """Compile the statement."""
        with tenancy.using(_TENANT):
            query: Any = self.build().query.chain(UpdateQuery)
            query.add_update_values(self.changes)
            sql, params = query.get_compiler(connection=database).as_sql()
        return _TenantStatement(sql, params, database)


class Delete(_Change):
    """A DELETE of rows of one table, to which no foreign keys refer."""

    def __init__(self, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _TenantStatement:
        """Compile the statement."""
        with tenancy.using(_TENANT):
            query: Any = self.build().query.chain(DeleteQuery)
            sql, params = query.get_compiler(connection=database).as_sql()
        return _TenantStatement(sql, params, database)


class ConditionalInsert(Statement[_TenantStatement]):
    """An INSERT of a row that happens only if a query finds a row."""

    def __init__(self, insert: Insert, build: Callable[[], models.QuerySet[Any]]) -> None:
        super().__init__()
        self.insert: Final = insert
        self.build: Final = build

    def prepare(self, database: BaseDatabaseWrapper) -> _TenantStatement:
        """Compile the statement."""
        insert = self.insert.prepare(database)
        with tenancy.using(_TENANT):
            query: Any = self.build().values(found=models.Value(1)).query
            sql, params = query.get_compiler(connection=database).as_sql()
        statement = f"{as_select(insert.sql)} WHERE EXISTS ({sql})"
        return _TenantStatement(statement, [*insert.params, *params], database)

    def __call__(self, row: models.Model, **values: object) -> bool:
        """Insert the row if the query with ``values`` finds one, and return whether it did."""
        return self.repeat(self.prepared().bind(vars(row) | values), {})

    def repeat(self, bound: Sequence[Any], changes: Values) -> bool:
        """Insert the row that was bound with these changes if the query finds one, and return whether."""
        prepared = self.prepared()
        with prepared.cursor() as cursor:
            cursor.execute(prepared.sql, prepared.rebind(bound, changes))
            return bool(cursor.rowcount)
