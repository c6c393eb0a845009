"""The compiled forms of the statements in ``tenant_statements``."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import get_related_populators

from database import converters
from database.batching import Outcome
from database.parameters import Source, Values
from database.rows import Loader
from database.statements import CompiledStatement
from identity.core import tenancy

M = TypeVar("M", bound=models.Model)

_populators: Final[Any] = get_related_populators  # the stubs describe a later Django
# Statements are compiled for this tenant. Each run puts the active tenant in its place.
TENANT: Final = tenancy.ActiveTenant("\0the tenant of the run", "")


class CompiledTenantStatement(CompiledStatement):
    """A statement on the rows of the tenant that is active when it runs.

    Raises (when it runs):
        NoActiveTenant: no tenant is active, or all are.

    """

    def bind(self, values: Values) -> list[Any]:
        """Return the parameters as the database adapter expects them, with the active tenant."""
        return super().bind({**values, TENANT.id: tenancy.active_id()})

    def source(self, param: Any) -> Source:
        """Return the function that computes a parameter from the values of a run."""
        is_tenant = isinstance(param, str) and param == TENANT.id
        return itemgetter(TENANT.id) if is_tenant else super().source(param)


class _CompiledQuery(CompiledTenantStatement):
    """A compiled SELECT whose rows are read at once."""

    def execute_alone(self, parameters: Sequence[Any]) -> Outcome:
        """Execute the statement with what ``bind`` returned, and return its outcome with the rows."""
        with self.cursor() as cursor:
            cursor.execute(self.sql, parameters)
            rows = cursor.fetchall()
        return Outcome(rows, len(rows))


class CompiledRows(_CompiledQuery, Generic[M]):
    """A compiled SELECT that returns model instances."""

    def __init__(self, queryset: models.QuerySet[M], database: BaseDatabaseWrapper) -> None:
        compiler: Any = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        super().__init__(sql, params, database)
        columns = [selected[0] for selected in compiler.select]
        places = compiler.klass_info["select_fields"]
        self.converters: Final = converters.find(compiler, columns, database)
        self.own: Final = slice(places[0], places[-1] + 1)
        self.names: Final = [column.target.attname for column in columns[self.own]]
        self.related: Final = _populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)
        _replace_models(self.related)
        self.annotations: Final = list(compiler.annotation_col_map.items())
        self.loader: Final = Loader(queryset.model)
        self.width: Final = len(compiler.select)

    def fetch(self, parameters: Sequence[Any]) -> list[M]:
        """Run the statement with what ``bind`` returned, and return the rows as instances."""
        return self.load(self.execute_alone(parameters).rows)

    def load(self, rows: Sequence[tuple[Any, ...]]) -> list[M]:
        """Return rows of the database as instances."""
        return [self._object(row) for row in converters.convert(rows, self.converters)]

    def _object(self, row: Sequence[Any]) -> M:
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


class CompiledJoin(CompiledTenantStatement):
    """Several compiled SELECTs as one, whose rows are joined without a condition."""

    def __init__(self, parts: Sequence[CompiledRows[Any]], database: BaseDatabaseWrapper) -> None:
        joins = [f"LEFT JOIN ({part.sql}) AS part_{number} ON 1 = 1" for number, part in enumerate(parts)]
        sql = f"SELECT * FROM (SELECT 1) AS one {' '.join(joins)}"  # noqa: S608 - no outside value
        super().__init__(sql, [param for part in parts for param in part.params], database)
        self.parts: Final = parts

    def fetch(self, values: Values) -> list[list[Any]]:
        """Run the statement and return its rows: an instance for each SELECT, or None if it found no row."""
        with self.cursor() as cursor:
            self.execute(cursor, values)
            return [self._split(row) for row in cursor.fetchall()]

    def _split(self, row: tuple[Any, ...]) -> list[Any]:
        found, place = [], 1
        for part in self.parts:
            columns = row[place : place + part.width]
            place += part.width
            is_found = any(value is not None for value in columns)
            found.append(part.load([columns])[0] if is_found else None)
        return found


class CompiledValues(_CompiledQuery):
    """A compiled SELECT of values."""

    def __init__(self, queryset: models.QuerySet[Any, Any], database: BaseDatabaseWrapper) -> None:
        compiler: Any = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        super().__init__(sql, params, database)
        columns = [selected[0] for selected in compiler.select]
        self.converters: Final = converters.find(compiler, columns, database)

    def fetch(self, values: Values, start: int, stop: int | None) -> list[tuple[Any, ...]]:
        """Run the statement and return its rows from ``start`` up to, not including, ``stop``."""
        limit = self.database.ops.limit_offset_sql(start, stop)
        # With a limit, each offset makes another statement, which is not worth preparing.
        with self.database.cursor() if limit else self.cursor() as cursor:
            cursor.execute(f"{self.sql} {limit}" if limit else self.sql, self.bind(values))
            rows = cursor.fetchall()
        return self.load(rows)

    def load(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return rows of the database with converted values."""
        return converters.convert(rows, self.converters)
