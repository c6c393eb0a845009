"""Prepared statements that libpq's pipeline mode executes together, in one transaction and with one wait."""

import select
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from psycopg import OperationalError, errors
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from database.batching import Call, Outcome, RolledBack
from database.postgresql.prepared import SUCCEEDED, Named, PreparedCursor

_ABORTED: Final = ExecStatus.PIPELINE_ABORTED
# After one of these, the statement is not retried, because it would only wait as long again.
_WAITED: Final = (errors.LockNotAvailable, errors.QueryCanceled)


def execute(cursor: PreparedCursor, calls: Sequence[Call]) -> list[Outcome | Exception] | None:
    """Execute calls in one transaction, and return the outcome or the error of each.

    If a statement fails, nothing is changed, and each call has ``RolledBack`` as its error. If the statement
    has waited too long, all calls with the same SQL have the statement's error instead. If all statements
    succeed, a call has an error only if its rows cannot be read.

    Return None, with nothing executed, if a statement is not prepared yet, or if a transaction has begun.

    Raises:
        psycopg.OperationalError: the connection broke. It is not known whether the changes were made.

    """
    connection = cursor.connection
    pgconn = connection.pgconn
    if pgconn.transaction_status != TransactionStatus.IDLE or not connection.autocommit:
        return None
    try:
        named = [cursor.find_name(call.sql, call.parameters) for call in calls]
    except Exception:  # noqa: BLE001 - the call with these parameters fails in the same way by itself
        return [RolledBack() for _ in calls]
    found = [each for each in named if each]
    if len(found) < len(named):
        return None
    with connection.lock, closing(_Pipeline(pgconn)) as pipeline:
        pipeline.send(found)
        results = pipeline.receive()
    failed = find_failed(results)
    if failed is not None:
        return get_errors(calls, failed, errors.error_from_result(results[failed]))
    return [read(cursor, result) for result in results]


def find_failed(results: Sequence[PGresult]) -> int | None:
    """Return the index of the first result that is an error, or None if there is none."""
    failed = (
        index
        for index, result in enumerate(results)
        if result.status not in SUCCEEDED and result.status != _ABORTED
    )
    return next(failed, None)


def get_errors(calls: Sequence[Call], failed: int, error: errors.Error) -> list[Outcome | Exception]:
    """Return the error of each call. ``failed`` is the index of the failed call, or that of the commit."""
    waited = {call.sql for call in calls[failed : failed + 1]} if isinstance(error, _WAITED) else set()
    return [error if call.sql in waited else RolledBack() for call in calls]


def read(cursor: PreparedCursor, result: PGresult) -> Outcome | Exception:
    """Return the outcome of a call, or the error if its rows cannot be read."""
    if result.status != ExecStatus.TUPLES_OK:
        return Outcome([], result.command_tuples or 0)
    try:
        return Outcome(cursor.load(result), result.ntuples)
    except Exception as error:  # noqa: BLE001 - the other statements have succeeded
        return error


class _Pipeline:
    """A connection in pipeline mode. If it is left with results unread, the connection is closed."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn: Final = pgconn
        self._poll: Final = select.poll()
        self._is_read = False
        pgconn.enter_pipeline_mode()

    def send(self, statements: Sequence[Named]) -> None:
        """Send statements and the end of their transaction."""
        for statement in statements:
            self._pgconn.send_query_prepared(
                statement.name, statement.values, param_formats=statement.formats
            )
        self._pgconn.pipeline_sync()
        self._poll.register(self._pgconn.socket, select.POLLIN | select.POLLOUT)
        while self._pgconn.flush():
            self._poll.poll()
            self._pgconn.consume_input()  # the server may wait until its results are read
        self._poll.modify(self._pgconn.socket, select.POLLIN)

    def receive(self) -> list[PGresult]:
        """Return the results of all statements, and that of the commit if it failed.

        Raises:
            psycopg.OperationalError: the connection broke.

        """
        results: list[PGresult] = []
        while True:
            while self._pgconn.is_busy():
                self._poll.poll()
                self._pgconn.consume_input()
            result = self._pgconn.get_result()
            if self._pgconn.status == ConnStatus.BAD:  # and whether the commit succeeded is not known
                raise OperationalError(self._pgconn.get_error_message())
            if result is None:  # the end of one statement
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                break
            results.append(result)
        self._is_read = True
        return results

    def close(self) -> None:
        """Leave pipeline mode."""
        if self._is_read:
            self._pgconn.exit_pipeline_mode()
        else:
            self._pgconn.finish()
