"""Statements of hot paths: written with the ORM as all others are, put into SQL once and not at each request.

Django builds and compiles a statement anew whenever it runs, which takes several times as long as
sending it. Here that happens once a thread; a run only fills in the values. For models of every app.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models.sql import InsertQuery

Values = Mapping[str, Any]


class Given(models.Expression):
    """A value that each run brings, by its name."""

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: object, connection: BaseDatabaseWrapper) -> Any:
        """Stand among the parameters until there is a value."""
        return "%s", [self]


class Prepared:
    """A statement in SQL, for one connection."""

    def __init__(self, sql: str, params: Any, database: BaseDatabaseWrapper) -> None:
        self.sql: Final = sql
        self.params: Final = list(params)
        self.database: Final = database

    def execute(self, cursor: CursorWrapper, values: Values) -> None:
        """Run it with these values."""
        cursor.execute(self.sql, [self.filled(param, values) for param in self.params])

    def filled(self, param: Any, values: Values) -> Any:
        """Return a parameter as the database takes it."""
        if isinstance(param, Given):
            return param.output_field.get_db_prep_save(values[param.name], self.database)
        return param


P = TypeVar("P", bound=Prepared)


class Statement(ABC, Generic[P]):
    """A statement that every thread prepares once."""

    def __init__(self) -> None:
        self._mine = threading.local()

    @abstractmethod
    def prepare(self, database: BaseDatabaseWrapper) -> P:
        """Put it into SQL."""

    def prepared(self) -> P:
        """Return it in SQL for this thread's connection."""
        database = connections[DEFAULT_DB_ALIAS]
        mine: P | None = getattr(self._mine, "prepared", None)
        if mine is None or mine.database is not database:
            mine = self._mine.prepared = self.prepare(database)
        return mine


class Insert(Statement[Prepared]):
    """The INSERT of one row of a model.

    ``expressions`` are columns whose values the database computes; a ``Given`` in them comes with each run.
    """

    def __init__(self, model: type[models.Model], **expressions: object) -> None:
        super().__init__()
        self._model: Final = model
        self._expressions: Final = expressions

    def prepare(self, database: BaseDatabaseWrapper) -> Prepared:
        """Put it into SQL; what has a ``db_default`` is left to the database as well."""
        every: list[Any] = list(self._model._meta.local_concrete_fields)
        fields = [field for field in every if field.db_default is models.NOT_PROVIDED]
        row = self._model(
            **{field.attname: Given(field.attname, field) for field in fields} | self._expressions
        )
        query = InsertQuery(self._model)
        query.insert_values(fields, [row])
        ((sql, params),) = query.get_compiler(connection=database).as_sql()
        return Prepared(sql, params, database)

    def __call__(self, row: models.Model, **values: object) -> None:
        """Insert a row as it is; what the database computed stays unknown to it.

        Raises:
            django.db.IntegrityError: a constraint forbids it.

        """
        prepared = self.prepared()
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, vars(row) | values)
        row._state.adding = False  # noqa: SLF001 - as save does


class _InOneStatement(Prepared):
    """A change and what it entails as one statement, which PostgreSQL can."""

    def __init__(self, change: Prepared, inserts: list[Prepared]) -> None:
        *others, last = [_from_the_change(insert.sql) for insert in inserts]
        entailed = "".join(f", entailed_{number} AS ({sql})" for number, sql in enumerate(others))
        sql = f"WITH changed AS ({change.sql} RETURNING 1){entailed} {last}"
        super().__init__(sql, (), change.database)
        self.parts: Final = [change, *inserts]

    def run(self, *values: Values) -> bool:
        pairs = zip(self.parts, values, strict=True)
        params = [part.filled(param, given) for part, given in pairs for param in part.params]
        with self.database.cursor() as cursor:
            cursor.execute(self.sql, params)
            return bool(cursor.rowcount)


def _from_the_change(insert: str) -> str:
    """Make an INSERT depend on the change: a row that was not changed entails nothing."""
    head, values = insert.split(" VALUES (", 1)
    return f"{head} SELECT {values.removesuffix(')')} FROM changed"  # noqa: S608 - Django's own SQL


class Chain(Statement[_InOneStatement]):
    """A change of one row and rows to insert if it was changed: all of it happens, or nothing.

    On PostgreSQL it is one statement, and needs no transaction around it.
    """

    def __init__(self, change: Statement[Any], *inserts: Insert) -> None:
        super().__init__()
        self._change: Final = change
        self._inserts: Final = inserts

    def prepare(self, database: BaseDatabaseWrapper) -> _InOneStatement:
        """Put it into SQL."""
        return _InOneStatement(
            self._change.prepare(database), [each.prepare(database) for each in self._inserts]
        )

    def __call__(self, values: Values, *rows: models.Model) -> bool:
        """Make the change with these values, and insert the rows. False if there was nothing to change.

        Raises:
            django.db.IntegrityError: a constraint forbids a row; then nothing was changed.

        """
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            return self.prepared().run(values, *(vars(row) for row in rows))
        with transaction.atomic():
            changed = self._change.prepared()
            with changed.database.cursor() as cursor:
                changed.execute(cursor, values)
                happened = bool(cursor.rowcount)
            if happened:
                for insert, row in zip(self._inserts, rows, strict=True):
                    insert(row)
        return happened
