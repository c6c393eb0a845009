"""Statements that are written with the ORM and compiled to SQL once per thread, for hot paths.

Django builds and compiles a statement each time it runs, which takes several times as long as sending it. A
compiled statement only needs the values of its parameters.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models.sql import InsertQuery

Values = Mapping[str, Any]


class Parameter(models.Expression):
    """A named parameter of a statement. Each run supplies its value."""

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: object, connection: BaseDatabaseWrapper) -> Any:
        """Compile to a placeholder. This object stands for the value."""
        return "%s", [self]


Source = Callable[[Values], Any]


class Prepared:
    """A statement compiled for one connection."""

    def __init__(self, sql: str, params: Any, database: BaseDatabaseWrapper) -> None:
        self.sql: Final = sql
        self.params: Final = list(params)
        self.database: Final = database
        self.sources: Final = [self.source(param) for param in self.params]

    def execute(self, cursor: CursorWrapper, values: Values) -> None:
        """Execute the statement with these values."""
        cursor.execute(self.sql, self.bind(values))

    def bind(self, values: Values) -> list[Any]:
        """Return the parameters as the database adapter expects them."""
        return [source(values) for source in self.sources]

    def source(self, param: Any) -> Source:
        """Return the function that computes a parameter from the values of a run."""
        return _source_of(param, self.database) if isinstance(param, Parameter) else lambda _: param


def _source_of(param: Parameter, database: BaseDatabaseWrapper) -> Source:
    field: Any = param.output_field
    name = param.name
    while field.remote_field:
        field = field.target_field
    # Values of these types need no conversion.
    unconverted: set[type] = {str} if type(field) in {models.CharField, models.TextField} else set()
    if type(field) is models.UUIDField and database.features.has_native_uuid_field:
        unconverted = {UUID}
    convert = param.output_field.get_db_prep_save

    def source(values: Values) -> Any:
        value = values[name]
        return value if value is None or type(value) in unconverted else convert(value, database)

    return source


P = TypeVar("P", bound=Prepared)


class Statement(ABC, Generic[P]):
    """A statement that each thread compiles once."""

    def __init__(self) -> None:
        self._local = threading.local()

    @abstractmethod
    def prepare(self, database: BaseDatabaseWrapper) -> P:
        """Compile the statement."""

    def prepared(self) -> P:
        """Return the compiled statement for this thread's connection."""
        database = connections[DEFAULT_DB_ALIAS]
        prepared: P | None = getattr(self._local, "prepared", None)
        if prepared is None or prepared.database is not database:
            prepared = self._local.prepared = self.prepare(database)
        return prepared


class Insert(Statement[Prepared]):
    """An INSERT of one row of a model.

    ``expressions`` are values of columns that the database computes. They may contain a ``Parameter``.
    """

    def __init__(self, model: type[models.Model], **expressions: object) -> None:
        super().__init__()
        self._model: Final = model
        self._expressions: Final = expressions

    def prepare(self, database: BaseDatabaseWrapper) -> Prepared:
        """Compile the statement, without the columns that have a ``db_default``."""
        model_fields: list[Any] = list(self._model._meta.local_concrete_fields)
        fields = [field for field in model_fields if field.db_default is models.NOT_PROVIDED]
        row = self._model(
            **{field.attname: Parameter(field.attname, field) for field in fields} | self._expressions
        )
        query = InsertQuery(self._model)
        query.insert_values(fields, [row])
        ((sql, params),) = query.get_compiler(connection=database).as_sql()
        return Prepared(sql, params, database)

    def __call__(self, row: models.Model, **values: object) -> None:
        """Insert a row. Values that the database computes are not set on the object.

        Raises:
            django.db.IntegrityError: the row violates a constraint.

        """
        prepared = self.prepared()
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, vars(row) | values)
        row._state.adding = False  # noqa: SLF001 - as save does


class _SingleStatement(Prepared):
    """An atomic change as one statement with CTEs, for PostgreSQL."""

    def __init__(self, change: Prepared, follow_ups: list[Prepared]) -> None:
        *others, last = [_if_changed(follow_up.sql) for follow_up in follow_ups]
        ctes = "".join(f", follow_up_{number} AS ({sql})" for number, sql in enumerate(others))
        sql = f"WITH changed AS ({change.sql} RETURNING 1){ctes} {last}"
        super().__init__(sql, (), change.database)
        self.parts: Final = [change, *follow_ups]

    def run(self, *values: Values) -> bool:
        pairs = zip(self.parts, values, strict=True)
        params = [param for part, part_values in pairs for param in part.bind(part_values)]
        with self.database.cursor() as cursor:
            cursor.execute(self.sql, params)
            return bool(cursor.rowcount)


def _if_changed(statement: str) -> str:
    """Return a statement that does nothing if the change has changed no row."""
    if statement.startswith("UPDATE"):
        return f"{statement} AND EXISTS (SELECT 1 FROM changed)"  # noqa: S608 - Django's own SQL
    return f"{as_select(statement)} FROM changed"


def as_select(insert: str) -> str:
    """Return the INSERT of one row as INSERT … SELECT. The caller appends FROM or WHERE."""
    head, values = insert.split(" VALUES (", 1)
    return f"{head} SELECT {values.removesuffix(')')}"


class AtomicChange(Statement[_SingleStatement]):
    """A change of one row and the updates and inserts that follow from it, executed atomically.

    On PostgreSQL they are one statement, which needs no transaction. On SQLite they run in a transaction. The
    last statement must be an insert, and no two statements may change the same row.
    """

    def __init__(self, change: Statement[Any], *follow_ups: Statement[Any]) -> None:
        super().__init__()
        self._change: Final = change
        self._follow_ups: Final = follow_ups

    def prepare(self, database: BaseDatabaseWrapper) -> _SingleStatement:
        """Compile the statement."""
        with transaction.atomic():  # Django compiles FOR UPDATE only in a transaction
            change, *follow_ups = (
                statement.prepare(database) for statement in (self._change, *self._follow_ups)
            )
        return _SingleStatement(change, follow_ups)

    def __call__(self, values: Values, *follow_ups: models.Model | Values) -> bool:
        """Execute the change with its values, and each follow-up with its row to insert or its values.

        Return false if the change has changed no row. Then the follow-ups are not executed.

        Raises:
            django.db.IntegrityError: a row violates a constraint; nothing was changed.

        """
        given = [vars(item) if isinstance(item, models.Model) else item for item in follow_ups]
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            has_changed = self.prepared().run(values, *given)
        else:
            has_changed = self._one_by_one(values, given)
        for row in follow_ups if has_changed else ():
            if isinstance(row, models.Model):
                row._state.adding = False  # noqa: SLF001 - as save does
        return has_changed

    def _one_by_one(self, values: Values, values_of_follow_ups: list[Values]) -> bool:
        with transaction.atomic():
            if not _changes(self._change.prepared(), values):
                return False
            for statement, more in zip(self._follow_ups, values_of_follow_ups, strict=True):
                _changes(statement.prepared(), more)
        return True


def _changes(prepared: Prepared, values: Values) -> bool:
    """Execute a statement and return whether it changed a row."""
    with prepared.database.cursor() as cursor:
        prepared.execute(cursor, values)
        return bool(cursor.rowcount)


# An insert with its row, or an update with its values.
FollowUp = tuple[Statement[Any], models.Model | Values]


def execute_atomically(first: Statement[Any], values: Values, *follow_ups: FollowUp) -> bool:
    """Execute a change and its follow-ups atomically: see ``AtomicChange``."""
    change = _atomic_change(first, *(statement for statement, _ in follow_ups))
    return change(values, *(item for _, item in follow_ups))


_atomic_change: Final = lru_cache(maxsize=64)(AtomicChange)
