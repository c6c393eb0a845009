"""Writes that are made together or not at all: on PostgreSQL one statement, on SQLite a transaction.

A function that takes a ``Chain`` adds its writes to it, and the caller runs them all. A write that may be
refused names a function that returns its refusal. If the single statement fails, it is not known which write
was refused. The same writes then run one by one, so the refusals are the same on both engines.

For one change with its inserts, ``statements.AtomicChange`` is enough.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, DataError, IntegrityError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from database.parameters import Values
from database.statements import Combined, Insert, Statement, as_select

Refusal = Callable[[], Exception]
Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Write:
    """A statement with its values. A statement with a ``refusal`` is refused if it writes no row."""

    statement: Statement[Any]
    values: Values
    refusal: Refusal | None

    def run(self) -> None:
        """Run the statement by itself.

        Raises:
            Exception: what ``refusal`` returns.

        """
        compiled = self.statement.for_this_thread()
        try:
            with compiled.cursor() as cursor:
                compiled.execute(cursor, self.values)
                count = int(cursor.rowcount)
        except IntegrityError:
            if self.refusal is not None and isinstance(self.statement, Insert):
                raise self.refusal() from None
            raise
        if not count and self.refusal is not None:
            raise self.refusal()


class Chain:
    """The writes of one operation, in their order."""

    def __init__(self) -> None:
        self._steps: Final[list[_Write | Step]] = []
        self._afterwards: Final[list[Step]] = []

    def add(
        self, statement: Statement[Any], values: Values | None = None, *, refusal: Refusal | None = None
    ) -> None:
        """Add an UPDATE or a DELETE. If it finds no row, what ``refusal`` returns is raised."""
        self._steps.append(_Write(statement, values or {}, refusal))

    def insert(
        self,
        insert: Insert,
        row: models.Model,
        values: Values | None = None,
        *,
        refusal: Refusal | None = None,
    ) -> None:
        """Add an INSERT. If the row violates a constraint, what ``refusal`` returns is raised.

        ``refusal`` must not query: inside a transaction, PostgreSQL accepts no statement after the error.
        """
        self._steps.append(_Write(insert, {**vars(row), **(values or {})}, refusal))
        self.then(lambda: setattr(row._state, "adding", False))  # noqa: SLF001 - as save does

    def call(self, step: Step) -> None:
        """Add a function that reads or writes by itself. All steps then run one by one, in a transaction."""
        self._steps.append(step)

    def then(self, step: Step) -> None:
        """Add a function to call after all writes, before the transaction of the caller ends."""
        self._afterwards.append(step)

    def run(self) -> None:
        """Make all writes.

        Raises:
            Exception: what a ``refusal`` returns; nothing was written.
            django.db.IntegrityError: a row violates a constraint; nothing was written.

        """
        if not self._run_as_one():
            self._run_one_by_one()
        for step in self._afterwards:
            step()

    def _run_as_one(self) -> bool:
        """Run the writes as one statement, and return whether all were made."""
        database = connections[DEFAULT_DB_ALIAS]
        writes = [step for step in self._steps if isinstance(step, _Write)]
        if database.vendor != "postgresql" or len(writes) < len(self._steps) or len(writes) <= 1:
            return False
        statement = _get_statement(tuple((write.statement, write.refusal is not None) for write in writes))
        try:
            # A savepoint, because an error must not undo what the transaction of the caller did before.
            with transaction.atomic() if database.in_atomic_block else nullcontext():
                statement.run([write.values for write in writes])
        except (DataError, IntegrityError):
            return False
        return True

    def _run_one_by_one(self) -> None:
        with transaction.atomic() if len(self._steps) > 1 else nullcontext():
            for step in self._steps:
                if isinstance(step, _Write):
                    step.run()
                else:
                    step()


@contextmanager
def joined(chain: Chain | None) -> Iterator[Chain]:
    """Yield the chain to add to: the one given or, for None, a new one that runs at the end of the block."""
    joined_chain = Chain() if chain is None else chain
    yield joined_chain
    if chain is None:
        joined_chain.run()


def _add_gate(gate: str, sql: str) -> str:
    """Return a statement that writes only if the write ``gate`` found a row, or always without a gate."""
    is_insert = sql.startswith("INSERT")
    statement = as_select(sql) if is_insert else sql
    if gate:
        keyword = "WHERE" if is_insert else "AND"
        statement = f"{statement} {keyword} EXISTS (SELECT 1 FROM {gate})"  # noqa: S608 - no outside value
    return f"{statement} RETURNING 1"


class _ChainStatement(Statement[Combined]):
    """Several writes as one statement, which fails unless each required write finds a row.

    Each write runs only if the last required write before it found a row, so rows are locked in this order.
    """

    def __init__(self, parts: Sequence[tuple[Statement[Any], bool]]) -> None:
        super().__init__()
        self._parts: Final = parts

    def compile(self, database: BaseDatabaseWrapper) -> Combined:
        """Compile the statement."""
        parts = [(part.compile(database), is_required) for part, is_required in self._parts]
        ctes, gate = [], ""
        for number, (part, is_required) in enumerate(parts):
            name = f"write_{number}"
            ctes.append(f"{name} AS ({_add_gate(gate, part.sql)})")
            if is_required:
                gate = name
        # If the last required write found no row, the division by zero undoes all writes.
        result = f"1 / (SELECT COUNT(*) FROM {gate})" if gate else "1"  # noqa: S608 - no outside value
        sql = f"WITH {', '.join(ctes)} SELECT {result}"
        return Combined(sql, [part for part, _ in parts], database)

    def run(self, values: Sequence[Values]) -> None:
        """Execute the statement.

        Raises:
            django.db.DataError: a write that must find a row found none.
            django.db.IntegrityError: a row violates a constraint.

        """
        self.for_this_thread().execute_parts(values)


@lru_cache(maxsize=256)
def _get_statement(parts: tuple[tuple[Statement[Any], bool], ...]) -> _ChainStatement:
    return _ChainStatement(parts)
