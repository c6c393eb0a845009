"""A connection for an event loop, which sends calls and reads their outcomes without waiting for them.

The connection stays in libpq's pipeline mode. Each statement is prepared when it is first executed.
"""

import logging
import select
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from itertools import count, islice
from typing import Any, Final

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Error, OperationalError, errors
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from database.batching import Call, Outcome, RolledBack
from database.postgresql import pipeline
from database.postgresql.base import DatabaseWrapper
from database.postgresql.prepared import STALE, Dumped, PreparedCursor

Finish = Callable[[list[Outcome | Exception]], None]

_MOST_SECONDS: Final = 30.0  # that a pipeline may take
_logger: Final = logging.getLogger(__name__)


class CompilingDatabase(DatabaseWrapper):
    """The database in a loop: statements can be compiled for it, but it never connects."""

    def ensure_connection(self) -> None:
        """Refuse to connect.

        Raises:
            SynchronousOnlyOperation: always.

        """
        raise SynchronousOnlyOperation("a loop must not wait for the database")

    def get_autocommit(self) -> bool:
        """Return false: Django compiles SELECT … FOR UPDATE only in a transaction."""
        return False


class LoopConnection:
    """A connection of one loop. It executes the calls of one batch at a time.

    Create it in a thread, because it connects. Then ``attach`` it to the loop, and use it only there.

    Raises:
        django.db.DatabaseError: the database is unavailable.

    """

    def __init__(self) -> None:
        database: Any = connections.create_connection(DEFAULT_DB_ALIAS)
        database.ensure_connection()
        self._database: Final[DatabaseWrapper] = database
        self._connection: Final[Any] = database.connection
        self._pgconn: Final = self._connection.pgconn
        self._cursor: Final = PreparedCursor(
            self._connection, database.create_cursor, database.wrap_database_errors
        )
        self._names: Final[dict[Any, bytes]] = {}
        self._new_names: Final[dict[Any, bytes]] = {}  # which the running pipeline prepares
        self._numbers: Final = count()
        self._calls: Sequence[Call] = ()
        self._finish: Finish | None = None
        self._results: list[PGresult] = []
        self._loop: AbstractEventLoop
        self._socket: Final = self._pgconn.socket
        self._poll: Final = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._is_attached = False
        self._is_closed = False
        self._deadline = 0.0

    def attach(self, loop: AbstractEventLoop) -> None:
        """Have the loop read what the server sends."""
        self._loop, self._is_attached = loop, True
        self._pgconn.nonblocking = 1
        self._pgconn.enter_pipeline_mode()
        loop.add_reader(self._socket, self._read)

    def is_usable(self) -> bool:
        """Return whether the connection can be used. One to a standby cannot: see ``DatabaseWrapper``."""
        if not self._is_closed and self._poll.poll(0):
            self._read()  # perhaps the end of the session
        return not self._is_closed and self._connection.info.parameter_status("in_hot_standby") != "on"

    def execute(self, calls: Sequence[Call], finish: Finish) -> None:
        """Begin to execute calls in one transaction. ``finish`` gets the outcome or the error of each.

        The outcomes and errors are those of ``DatabaseWrapper.execute_batch``. If the connection breaks,
        each call has the error: it is not known whether the changes were made.
        """
        self._calls, self._finish, self._results = calls, finish, []
        self._deadline = self._loop.time() + _MOST_SECONDS
        try:
            statements = [self._cursor.dump(call.sql, call.parameters) for call in calls]
        except Exception:  # noqa: BLE001 - the call with these parameters fails in the same way by itself
            self._end([RolledBack() for _ in calls])
            return
        try:
            for statement in statements:
                self._send(statement)
            self._pgconn.pipeline_sync()
            self._flush()
        except OperationalError as error:
            self._break(error)
        except Exception:
            _logger.exception("a batch could not be sent, so its connection is closed and threads serve it")
            self.close()  # PostgreSQL rolls back what has no sync message
            self._end([RolledBack() for _ in calls])

    def check(self) -> None:
        """Read what the loop has missed, and give up what takes too long. Call this every second or so.

        The loop stops watching a connection with an error, and may have read only a part by then. A server
        that was lost without an error never answers.
        """
        if self._finish is not None and self._poll.poll(0):
            self._read()
        if self._finish is not None and self._loop.time() > self._deadline:
            self._break(OperationalError("the database has not answered in time"))

    def close(self) -> None:
        """Close the connection."""
        if not self._is_closed:
            self._is_closed = True
            if self._is_attached:
                self._loop.remove_reader(self._socket)
                self._loop.remove_writer(self._socket)
            self._connection.close()

    def _send(self, dumped: Dumped) -> None:
        name = self._names.get(dumped.key) or self._new_names.get(dumped.key)
        if name is None:
            name = self._new_names[dumped.key] = b"loop_%d" % next(self._numbers)
            query, types = dumped.key
            self._pgconn.send_prepare(name, query, param_types=types)
        self._pgconn.send_query_prepared(name, dumped.values, param_formats=dumped.formats)

    def _flush(self) -> None:
        """Send what is waiting, as far as the socket accepts it. ``_flush_rest`` sends the rest later."""
        if self._pgconn.flush():
            self._loop.add_writer(self._socket, self._flush_rest)

    def _flush_rest(self) -> None:
        try:
            if not self._pgconn.flush():
                self._loop.remove_writer(self._socket)
        except OperationalError as error:
            self._break(error)

    def _read(self) -> None:
        """Read what the server has sent, and end the pipeline if that was all."""
        is_complete = False
        try:
            while not is_complete and self._pgconn.status != ConnStatus.BAD:
                self._pgconn.consume_input()
                is_complete = self._finish is not None and self._read_results()
                if not self._poll.poll(0):
                    break
        except OperationalError as error:
            self._break(error)
            return
        if self._pgconn.status == ConnStatus.BAD:
            self._break(OperationalError(self._pgconn.get_error_message()))
        elif is_complete:
            self._complete()

    def _read_results(self) -> bool:
        """Read the results that have arrived, and return whether the pipeline has ended."""
        while not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is None:  # the end of one statement
                if self._pgconn.status == ConnStatus.BAD:
                    return False
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                return True
            self._results.append(result)
        return False

    def _complete(self) -> None:
        calls, results = self._calls, self._results
        failed = pipeline.find_failed(results)
        # A statement stays prepared if its pipeline fails later. The results are in the order of the names.
        prepared = sum(map(_is_prepared, results[:failed]))
        self._names.update(islice(self._new_names.items(), prepared))
        if failed is None:
            self._end([pipeline.read(self._cursor, each) for each in results if not _is_prepared(each)])
            return
        error = errors.error_from_result(results[failed])
        if isinstance(error, STALE):  # after a migration, or if the name is gone
            self.close()  # a new connection prepares the statements again
        self._end(pipeline.get_errors(calls, failed - prepared, error))

    def _break(self, error: Error) -> None:
        self.close()
        self._end([error for _ in self._calls])

    def _end(self, outcomes: list[Outcome | Exception]) -> None:
        finish, self._finish = self._finish, None
        self._calls, self._results = (), []
        self._new_names.clear()
        if finish is not None:
            finish(self._database.wrap_errors(outcomes))


def _is_prepared(result: PGresult) -> bool:
    """Return whether a result is that of preparing a statement."""
    return result.status == ExecStatus.COMMAND_OK and not result.command_status
