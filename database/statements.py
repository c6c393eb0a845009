"""Statements of hot paths: written with the ORM as all others are, put into SQL once and not at each request.

Django builds and compiles a statement anew whenever it runs, which takes several times as long as
sending it. Here that happens once a thread; a run only fills in the values. For models of every app.
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


class Given(models.Expression):
    """A value that each run brings, by its name."""

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: object, connection: BaseDatabaseWrapper) -> Any:
        """Stand among the parameters until there is a value."""
        return "%s", [self]


Source = Callable[[Values], Any]


class Prepared:
    """A statement in SQL, for one connection."""

    def __init__(self, sql: str, params: Any, database: BaseDatabaseWrapper) -> None:
        self.sql: Final = sql
        self.params: Final = list(params)
        self.database: Final = database
        self.sources: Final = [self.source(param) for param in self.params]

    def execute(self, cursor: CursorWrapper, values: Values) -> None:
        """Run it with these values."""
        cursor.execute(self.sql, self.filled(values))

    def filled(self, values: Values) -> list[Any]:
        """Return the parameters as the database takes them."""
        return [source(values) for source in self.sources]

    def source(self, param: Any) -> Source:
        """Return what takes a parameter from the values of a run."""
        return _given(param, self.database) if isinstance(param, Given) else lambda _: param


def _given(param: Given, database: BaseDatabaseWrapper) -> Source:
    field: Any = param.output_field
    name = param.name
    while field.remote_field:
        field = field.target_field
    # What fields do to these, step by step, is nothing.
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

    def __init__(self, change: Prepared, entailed: list[Prepared]) -> None:
        *others, last = [_if_changed(each.sql) for each in entailed]
        more = "".join(f", entailed_{number} AS ({sql})" for number, sql in enumerate(others))
        sql = f"WITH changed AS ({change.sql} RETURNING 1){more} {last}"
        super().__init__(sql, (), change.database)
        self.parts: Final = [change, *entailed]

    def run(self, *values: Values) -> bool:
        pairs = zip(self.parts, values, strict=True)
        params = [param for part, given in pairs for param in part.filled(given)]
        with self.database.cursor() as cursor:
            cursor.execute(self.sql, params)
            return bool(cursor.rowcount)


def _if_changed(statement: str) -> str:
    """Make a statement depend on the change: a row that was not changed entails nothing."""
    if statement.startswith("UPDATE"):
        return f"{statement} AND EXISTS (SELECT 1 FROM changed)"  # noqa: S608 - Django's own SQL
    return f"{as_select(statement)} FROM changed"


def as_select(insert: str) -> str:
    """Return the INSERT of one row as one of what a SELECT finds, which lacks its FROM or WHERE yet."""
    head, values = insert.split(" VALUES (", 1)
    return f"{head} SELECT {values.removesuffix(')')}"


class Chain(Statement[_InOneStatement]):
    """A change of one row, and updates and inserts that it entails: all of it happens, or nothing.

    On PostgreSQL it is one statement, and needs no transaction around it. The last is an insert, and
    no row is changed twice.
    """

    def __init__(self, change: Statement[Any], *entailed: Statement[Any]) -> None:
        super().__init__()
        self._change: Final = change
        self._entailed: Final = entailed

    def prepare(self, database: BaseDatabaseWrapper) -> _InOneStatement:
        """Put it into SQL."""
        with transaction.atomic():  # or Django compiles no FOR UPDATE
            change, *entailed = (each.prepare(database) for each in (self._change, *self._entailed))
        return _InOneStatement(change, entailed)

    def __call__(self, values: Values, *entailed: models.Model | Values) -> bool:
        """Make the change with these values, and what it entails: rows to insert, and values of updates.

        False if there was nothing to change.

        Raises:
            django.db.IntegrityError: a constraint forbids a row; then nothing was changed.

        """
        given = [vars(each) if isinstance(each, models.Model) else each for each in entailed]
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            happened = self.prepared().run(values, *given)
        else:
            happened = self._one_by_one(values, given)
        for row in entailed if happened else ():
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
    """Run a statement and tell whether it changed a row."""
    with prepared.database.cursor() as cursor:
        prepared.execute(cursor, values)
        return bool(cursor.rowcount)


# An insert and its row, or an update and its values.
Entailed = tuple[Statement[Any], models.Model | Values]


def all_or_nothing(first: Statement[Any], values: Values, *entailed: Entailed) -> bool:
    """Run the chain of a change and whatever it entails at this moment; see ``Chain``."""
    chain = _chain(first, *(statement for statement, _ in entailed))
    return chain(values, *(given for _, given in entailed))


_chain: Final = lru_cache(maxsize=64)(Chain)
