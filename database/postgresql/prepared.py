"""A cursor for compiled statements, which runs them by the names under which psycopg has prepared them.

psycopg's cursors read the statement and choose dumpers and loaders each time, which takes longer than
sending it. This cursor does so once for a connection, and runs the statement through ``psycopg.pq``. A usual
cursor executes what cannot be run by name: the first statement of a transaction, before which psycopg sends
BEGIN, and a statement that psycopg has not prepared yet.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from psycopg import Connection, Cursor, Error, OperationalError, ProgrammingError, errors, generators
from psycopg._queries import PostgresQuery
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

# The plan of a statement is out of date after a migration, or its name was deallocated by something else.
STALE: Final = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)
SUCCEEDED: Final = frozenset({ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK})


class Named(NamedTuple):
    """What libpq needs to execute a prepared statement."""

    name: bytes
    values: Any
    formats: Any


class Dumped(NamedTuple):
    """A statement and its parameters as libpq needs them. ``key`` is the query and its types.

    psycopg gives each key a name.
    """

    key: tuple[bytes, tuple[int, ...]]
    values: Any
    formats: Any


@lru_cache(maxsize=1024)
def _read(sql: str, parameters: int) -> tuple[bytes, list[PyFormat]]:
    """Return a statement as psycopg sends it, and the formats of its parameters."""
    query = PostgresQuery(Transformer())
    query.convert(sql, [None] * parameters)
    return query.query, [PyFormat.AUTO] * parameters


def _can_be_interrupted() -> bool:
    """Return whether signals, such as that of Ctrl-C, can interrupt this thread."""
    return threading.current_thread() is threading.main_thread()


def _get_error(pgconn: PGconn, result: PGresult) -> Error:
    """Return the error of a result. libpq does not say which error has ended a connection."""
    if pgconn.status == ConnStatus.BAD:
        return OperationalError(result.get_error_message())
    return errors.error_from_result(result)


class PreparedCursor:
    """Executes the statements of a connection one by one. The result of one must be read before the next."""

    def __init__(
        self,
        connection: Connection[Any],
        create_cursor: Callable[[], Cursor[Any]],
        errors: AbstractContextManager[Any],
    ) -> None:
        self.connection: Final = connection
        self._errors: Final = errors
        self._create_cursor: Final = create_cursor
        self._transformer: Final = Transformer(connection)
        # psycopg's own record, so names end when psycopg deallocates them: after a rollback, for instance.
        self._names: Final = connection._prepared._names  # noqa: SLF001
        self._is_interruptible: Final = _can_be_interrupted()
        self._usual: Cursor[Any] | None = None
        self._result: PGresult | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Forget the result, and raise an error of psycopg as Django's error.

        Raises:
            django.db.Error: the block raised an error of psycopg.

        """
        self.close()
        if failure is not None:
            self._errors.__exit__(kind, failure, traceback)

    def execute(self, sql: str, params: Sequence[Any]) -> None:
        """Execute a statement.

        Raises:
            psycopg.Error: the same errors as from a usual cursor.

        """
        self.close()
        try:
            self._result = self._execute_by_name(sql, params)
        except STALE:
            if self.connection.pgconn.transaction_status != TransactionStatus.IDLE:
                raise
        if self._result is None:
            self._usual = self._create_cursor()
            self._usual.execute(sql, params)

    def _execute_by_name(self, sql: str, params: Sequence[Any]) -> PGresult | None:
        """Execute a prepared statement, and return its result. Return None if it is not prepared."""
        connection = self.connection
        pgconn = connection.pgconn
        status = pgconn.transaction_status
        if status != TransactionStatus.INTRANS and not (
            status == TransactionStatus.IDLE and connection.autocommit
        ):
            return None
        named = self.find_name(sql, params)
        if named is None:
            return None
        with connection.lock:
            result = self._run(pgconn, named)
        if result.status not in SUCCEEDED:
            raise _get_error(pgconn, result)
        return result

    def find_name(self, sql: str, params: Sequence[Any]) -> Named | None:
        """Return the name and parameters with which to execute a statement, or None if it has no name yet."""
        dumped = self.dump(sql, params)
        name = self._names.get(dumped.key)
        if name is None:
            return None
        self._names.move_to_end(dumped.key)  # psycopg deallocates the least recently used name first
        return Named(name, dumped.values, dumped.formats)

    def dump(self, sql: str, params: Sequence[Any]) -> Dumped:
        """Return a statement and its parameters as libpq needs them."""
        transformer = self._transformer
        query, formats = _read(sql, len(params))
        values = transformer.dump_sequence(params, formats)
        return Dumped((query, transformer.types or ()), values, transformer.formats)

    def _run(self, pgconn: PGconn, named: Named) -> PGresult:
        """Execute a prepared statement and wait for its result, which may be an error.

        psycopg's ``wait`` can be interrupted, but takes and releases the interpreter's lock several times.
        libpq's own wait releases it once.
        """
        if not self._is_interruptible:
            return pgconn.exec_prepared(named.name, named.values, param_formats=named.formats)
        pgconn.send_query_prepared(named.name, named.values, param_formats=named.formats)
        results: list[PGresult] = self.connection.wait(generators.execute(pgconn))
        return results[0]

    @property
    def rowcount(self) -> int:
        """The number of rows that were returned or changed; -1 if the statement was not executed."""
        if self._result is None:
            return -1 if self._usual is None else self._usual.rowcount
        if self._result.status == ExecStatus.TUPLES_OK:
            return self._result.ntuples
        return self._result.command_tuples or 0

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the first row, or None if there is none."""
        return next(iter(self.fetchall()), None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows.

        Raises:
            psycopg.ProgrammingError: the statement returns no rows, or was not executed.

        """
        if self._usual is not None:
            return self._usual.fetchall()
        if self._result is None:
            raise ProgrammingError("no result available")
        if self._result.status != ExecStatus.TUPLES_OK:
            status = (self._result.command_status or b"").decode()
            raise ProgrammingError(f"the last operation didn't produce records (command status: {status})")
        return self.load(self._result)

    def load(self, result: PGresult) -> list[tuple[Any, ...]]:
        """Return the rows of a result."""
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def close(self) -> None:
        """Forget the result. The cursor can be used again."""
        if self._usual is not None:
            self._usual.close()
            self._usual = None
        if self._result is not None:
            self._transformer.set_pgresult(None)
            self._result = None
