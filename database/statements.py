"""Statements that are written with the ORM and compiled to SQL once per thread, for hot paths.

Django builds and compiles a statement each time it runs, which takes several times as long as sending it. A
compiled statement only needs the values of its parameters.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models.constants import OnConflict
from django.db.models.sql import InsertQuery

from database.batching import Call, Outcome
from database.parameters import Parameter, Source, Values, source_of


class CompiledStatement:
    """A statement compiled for one connection."""

    def __init__(self, sql: str, params: Any, database: BaseDatabaseWrapper) -> None:
        self.sql: Final = sql
        self.params: Final = list(params)
        self.database: Final = database
        self.sources: Final = [self.source(param) for param in self.params]
        self.places: Final = _find_places(self.params)
        # Only PostgreSQL has a cursor for statements that are repeated.
        self.cursor: Final[Callable[[], CursorWrapper]] = getattr(
            database, "prepared_cursor", database.cursor
        )

    def execute(self, cursor: CursorWrapper, values: Values) -> None:
        """Execute the statement with these values."""
        cursor.execute(self.sql, self.bind(values))

    def bind(self, values: Values) -> list[Any]:
        """Return the parameters as the database adapter expects them."""
        return [source(values) for source in self.sources]

    def rebind(self, bound: Sequence[Any], changes: Values) -> list[Any]:
        """Return what ``bind`` returned, with other values for these names."""
        parameters, sources, places = list(bound), self.sources, self.places
        for name in changes:
            for place in places[name]:
                parameters[place] = sources[place](changes)
        return parameters

    def call(self, parameters: Sequence[Any]) -> Call:
        """Return the call of this statement with what ``bind`` returned."""
        return Call(self.sql, parameters, partial(self.execute_alone, parameters))

    def execute_alone(self, parameters: Sequence[Any]) -> Outcome:
        """Execute the statement with what ``bind`` returned. Return its outcome, whose rows are not read."""
        with self.cursor() as cursor:
            cursor.execute(self.sql, parameters)
            return Outcome([], cursor.rowcount)

    def source(self, param: Any) -> Source:
        """Return the function that computes a parameter from the values of a run."""
        return source_of(param, self.database) if isinstance(param, Parameter) else lambda _: param


def _find_places(params: Sequence[Any]) -> dict[str, list[int]]:
    """Return the places of each named parameter in the list."""
    places: dict[str, list[int]] = {}
    for place, param in enumerate(params):
        if isinstance(param, Parameter):
            places.setdefault(param.name, []).append(place)
    return places


C = TypeVar("C", bound=CompiledStatement)


class Statement(ABC, Generic[C]):
    """A statement that each thread compiles once."""

    def __init__(self) -> None:
        self._local = threading.local()

    @abstractmethod
    def compile(self, database: BaseDatabaseWrapper) -> C:
        """Return the statement compiled for this connection."""

    def for_this_thread(self) -> C:
        """Return the statement compiled for this thread's connection. The first call compiles it."""
        database = connections[DEFAULT_DB_ALIAS]
        compiled: C | None = getattr(self._local, "compiled", None)
        if compiled is None or compiled.database is not database:
            try:
                compiled = self.compile(database)
            except transaction.TransactionManagementError:
                with transaction.atomic():  # Django compiles SELECT … FOR UPDATE only in a transaction
                    compiled = self.compile(database)
            self._local.compiled = compiled
        return compiled


class Insert(Statement[CompiledStatement]):
    """An INSERT of one row of a model.

    ``expressions`` are values of columns that the database computes, and may contain a ``Parameter``.
    ``including`` names columns that are inserted although they have a ``db_default``. With
    ``ignores_conflicts``, a row that violates a unique constraint is not inserted, without an error.
    """

    def __init__(
        self,
        model: type[models.Model],
        *,
        including: Sequence[str] = (),
        ignores_conflicts: bool = False,
        **expressions: object,
    ) -> None:
        super().__init__()
        self._model: Final = model
        self._including: Final = frozenset(including)
        self._on_conflict: Final = OnConflict.IGNORE if ignores_conflicts else None
        self._expressions: Final = expressions

    def compile(self, database: BaseDatabaseWrapper) -> CompiledStatement:
        """Compile the statement, without the other columns that have a ``db_default``."""
        fields = [
            field
            for field in self._model._meta.local_concrete_fields
            if field.db_default is models.NOT_PROVIDED or field.name in self._including
        ]
        row = self._model(
            **{field.attname: Parameter(field.attname, field) for field in fields} | self._expressions
        )
        query = InsertQuery(self._model, on_conflict=self._on_conflict)
        query.insert_values(fields, [row])
        ((sql, params),) = query.get_compiler(connection=database).as_sql()
        return CompiledStatement(sql, params, database)

    def __call__(self, row: models.Model, **values: object) -> None:
        """Insert a row. Values that the database computes are not set on the object.

        Raises:
            django.db.IntegrityError: the row violates a constraint.

        """
        compiled = self.for_this_thread()
        with compiled.cursor() as cursor:
            compiled.execute(cursor, vars(row) | values)
        row._state.adding = False  # noqa: SLF001 - as save does


class Combined(CompiledStatement):
    """Several statements combined to one, each with values of its own."""

    def __init__(self, sql: str, parts: Sequence[CompiledStatement], database: BaseDatabaseWrapper) -> None:
        super().__init__(sql, (), database)
        self.parts: Final = parts

    def bind_parts(self, values: Sequence[Values]) -> list[Any]:
        """Return the parameters of all parts, each with its own values."""
        pairs = zip(self.parts, values, strict=True)
        return [param for part, part_values in pairs for param in part.bind(part_values)]

    def execute_parts(self, values: Sequence[Values]) -> int:
        """Execute the statement, and return the number of rows that its last part wrote or returned."""
        with self.cursor() as cursor:
            cursor.execute(self.sql, self.bind_parts(values))
            return int(cursor.rowcount)


def as_select(insert: str) -> str:
    """Return the INSERT of one row as INSERT … SELECT. The caller appends FROM or WHERE."""
    head, values = insert.split(" VALUES (", 1)
    return f"{head} SELECT {values.removesuffix(')')}"


class AtomicChange(Statement[Combined]):
    """A change of one row, and inserts that are made only if it changed the row, executed atomically.

    On PostgreSQL it is one statement and needs no transaction; on SQLite it is a transaction. Its parts are
    known when the module is loaded, so it can be a call of a batch. See ``chains.Chain`` for the writes of
    several functions.
    """

    def __init__(self, change: Statement[Any], *inserts: Insert) -> None:
        super().__init__()
        self._change: Final = change
        self._inserts: Final = inserts

    def compile(self, database: BaseDatabaseWrapper) -> Combined:
        """Compile the statement, which is for PostgreSQL."""
        change = self._change.compile(database)
        inserts = [insert.compile(database) for insert in self._inserts]
        *others, last = [f"{as_select(insert.sql)} FROM changed" for insert in inserts]
        ctes = "".join(f", inserted_{number} AS ({sql})" for number, sql in enumerate(others))
        sql = f"WITH changed AS ({change.sql} RETURNING 1){ctes} {last}"
        return Combined(sql, [change, *inserts], database)

    def __call__(self, values: Values, *rows: models.Model) -> bool:
        """Execute the change with its values, and insert the rows. Return false if nothing was changed.

        Raises:
            django.db.IntegrityError: a row violates a constraint; nothing was changed.

        """
        if connections[DEFAULT_DB_ALIAS].vendor != "postgresql":
            return self._run_in_transaction(values, rows)
        if not self.for_this_thread().execute_parts([values, *map(vars, rows)]):
            return False
        for row in rows:
            row._state.adding = False  # noqa: SLF001 - as save does
        return True

    def call(self, values: Values, *rows: models.Model) -> Call:
        """Return the call that executes the change. The count of its outcome is 0 if nothing was changed."""
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            compiled = self.for_this_thread()
            return compiled.call(compiled.bind_parts([values, *map(vars, rows)]))
        return Call("", (), lambda: Outcome([], int(self._run_in_transaction(values, rows))))

    def _run_in_transaction(self, values: Values, rows: Sequence[models.Model]) -> bool:
        with transaction.atomic():
            change = self._change.for_this_thread()
            with change.cursor() as cursor:
                change.execute(cursor, values)
                if not cursor.rowcount:
                    return False
            for insert, row in zip(self._inserts, rows, strict=True):
                insert(row)
        return True
