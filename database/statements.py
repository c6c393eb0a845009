"""Statements of hot paths: written with the ORM, and compiled into SQL once instead of at each request.

Django builds and compiles a statement each time it runs, which takes several times as long as sending it.
Here that happens once per thread, and a run only fills in the values. For models of all apps.
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
    """A parameter of a statement, by its name. Each run supplies the value."""

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: object, connection: BaseDatabaseWrapper) -> Any:
        """Compile to a placeholder, with this object in the place of the value."""
        return "%s", [self]


Source = Callable[[Values], Any]


class Prepared:
    """A compiled statement, for one connection."""

    def __init__(self, sql: str, params: Any, database: BaseDatabaseWrapper) -> None:
        self.sql: Final = sql
        self.params: Final = list(params)
        self.database: Final = database
        self.sources: Final = [self.source(param) for param in self.params]

    def execute(self, cursor: CursorWrapper, values: Values) -> None:
        """Run the statement with these values."""
        cursor.execute(self.sql, self.filled(values))

    def filled(self, values: Values) -> list[Any]:
        """Return the parameters in the form that the database takes."""
        return [source(values) for source in self.sources]

    def source(self, param: Any) -> Source:
        """Return the function that takes a parameter from the values of a run."""
        return _source_of(param, self.database) if isinstance(param, Parameter) else lambda _: param


def _source_of(param: Parameter, database: BaseDatabaseWrapper) -> Source:
    field: Any = param.output_field
    name = param.name
    while field.remote_field:
        field = field.target_field
    # Fields return values of these types unchanged.
    untouched: set[type] = {str} if type(field) in {models.CharField, models.TextField} else set()
    if type(field) is models.UUIDField and database.features.has_native_uuid_field:
        untouched = {UUID}
    adapted = param.output_field.get_db_prep_save

    def take(values: Values) -> Any:
        value = values[name]
        return value if value is None or type(value) in untouched else adapted(value, database)

    return take


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
        mine: P | None = getattr(self._local, "prepared", None)
        if mine is None or mine.database is not database:
            mine = self._local.prepared = self.prepare(database)
        return mine


class Insert(Statement[Prepared]):
    """The INSERT of one row of a model.

    ``expressions`` are columns whose values the database computes; they may contain a ``Parameter``.
    """

    def __init__(self, model: type[models.Model], **expressions: object) -> None:
        super().__init__()
        self._model: Final = model
        self._expressions: Final = expressions

    def prepare(self, database: BaseDatabaseWrapper) -> Prepared:
        """Compile the statement, without the columns that have a ``db_default``."""
        every: list[Any] = list(self._model._meta.local_concrete_fields)
        fields = [field for field in every if field.db_default is models.NOT_PROVIDED]
        row = self._model(
            **{field.attname: Parameter(field.attname, field) for field in fields} | self._expressions
        )
        query = InsertQuery(self._model)
        query.insert_values(fields, [row])
        ((sql, params),) = query.get_compiler(connection=database).as_sql()
        return Prepared(sql, params, database)

    def __call__(self, row: models.Model, **values: object) -> None:
        """Insert a row. Values that the database computes are not set on it.

        Raises:
            django.db.IntegrityError: a constraint forbids it.

        """
        prepared = self.prepared()
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, vars(row) | values)
        row._state.adding = False  # noqa: SLF001 - as save does


class _SingleStatement(Prepared):
    """An atomic change as one statement with CTEs, for PostgreSQL."""

    def __init__(self, change: Prepared, follow_ups: list[Prepared]) -> None:
        *others, last = [_if_changed(each.sql) for each in follow_ups]
        more = "".join(f", entailed_{number} AS ({sql})" for number, sql in enumerate(others))
        sql = f"WITH changed AS ({change.sql} RETURNING 1){more} {last}"
        super().__init__(sql, (), change.database)
        self.parts: Final = [change, *follow_ups]

    def run(self, *values: Values) -> bool:
        pairs = zip(self.parts, values, strict=True)
        params = [param for part, given in pairs for param in part.filled(given)]
        with self.database.cursor() as cursor:
            cursor.execute(self.sql, params)
            return bool(cursor.rowcount)


def _if_changed(statement: str) -> str:
    """Make a statement conditional on the change: it does nothing if no row was changed."""
    if statement.startswith("UPDATE"):
        return f"{statement} AND EXISTS (SELECT 1 FROM changed)"  # noqa: S608 - Django's own SQL
    return f"{as_select(statement)} FROM changed"


def as_select(insert: str) -> str:
    """Return the INSERT of one row as INSERT … SELECT, to which the caller adds FROM or WHERE."""
    head, values = insert.split(" VALUES (", 1)
    return f"{head} SELECT {values.removesuffix(')')}"


class AtomicChange(Statement[_SingleStatement]):
    """A change of one row with the updates and inserts that follow from it, executed atomically.

    On PostgreSQL it is one statement and needs no transaction; on SQLite it is a transaction. The last
    statement must be an insert, and no row may be changed twice.
    """

    def __init__(self, change: Statement[Any], *follow_ups: Statement[Any]) -> None:
        super().__init__()
        self._change: Final = change
        self._entailed: Final = follow_ups

    def prepare(self, database: BaseDatabaseWrapper) -> _SingleStatement:
        """Compile the statement."""
        with transaction.atomic():  # without it Django refuses to compile FOR UPDATE
            change, *follow_ups = (each.prepare(database) for each in (self._change, *self._entailed))
        return _SingleStatement(change, follow_ups)

    def __call__(self, values: Values, *follow_ups: models.Model | Values) -> bool:
        """Execute the change with its values, and the rest with rows to insert or values of updates.

        Return false if there was nothing to change.

        Raises:
            django.db.IntegrityError: a row violates a constraint; nothing was changed.

        """
        given = [vars(each) if isinstance(each, models.Model) else each for each in follow_ups]
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            happened = self.prepared().run(values, *given)
        else:
            happened = self._one_by_one(values, given)
        for row in follow_ups if happened else ():
            if isinstance(row, models.Model):
                row._state.adding = False  # noqa: SLF001 - as save does
        return happened

    def _one_by_one(self, values: Values, given: list[Values]) -> bool:
        with transaction.atomic():
            if not _changes(self._change.prepared(), values):
                return False
            for each, more in zip(self._entailed, given, strict=True):
                _changes(each.prepared(), more)
        return True


def _changes(prepared: Prepared, values: Values) -> bool:
    """Run a statement and return whether it changed a row."""
    with prepared.database.cursor() as cursor:
        prepared.execute(cursor, values)
        return bool(cursor.rowcount)


# An insert and its row, or an update and its values.
FollowUp = tuple[Statement[Any], models.Model | Values]


def execute_atomically(first: Statement[Any], values: Values, *follow_ups: FollowUp) -> bool:
    """Execute a change and the statements that follow from it in this call; see ``AtomicChange``."""
    chain = _atomic_change(first, *(statement for statement, _ in follow_ups))
    return chain(values, *(given for _, given in follow_ups))


_atomic_change: Final = lru_cache(maxsize=64)(AtomicChange)
