"""Prepared statements that are executed together, in one transaction and with one wait.

They are sent in libpq's pipeline mode.
"""

import select
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from database.postgresql.prepared import SUCCEEDED, Named, PreparedCursor, get_error
from database.together import Call, Outcome, Undone

_ABORTED: Final = ExecStatus.PIPELINE_ABORTED


def execute(cursor: PreparedCursor, calls: Sequence[Call]) -> list[Outcome] | None:
    """Execute calls in one transaction, and return their outcomes.

    Return None, with nothing executed, if a statement is not prepared yet, or if a transaction has begun.

    Raises:
        Undone: a statement failed. Nothing was changed.
        psycopg.OperationalError: the connection broke. It is not known whether the changes were made.

    """
    connection = cursor.connection
    pgconn = connection.pgconn
    if pgconn.transaction_status != TransactionStatus.IDLE or not connection.autocommit:
        return None
    named = [cursor.find_name(call.sql, call.parameters) for call in calls]
    found = [each for each in named if each]
    if len(found) < len(named):
        return None
    with connection.lock, closing(_Pipeline(pgconn)) as pipeline:
        pipeline.send(found)
        results = pipeline.receive()
    return [Outcome(*_read(cursor, result)) for result in results]


def _read(cursor: PreparedCursor, result: PGresult) -> tuple[list[tuple[object, ...]], int]:
    if result.status == ExecStatus.TUPLES_OK:
        return cursor.load(result), result.ntuples
    return [], result.command_tuples or 0


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
            self._pgconn.consume_input()  # so that a server that waits for us to read goes on
        self._poll.modify(self._pgconn.socket, select.POLLIN)

    def receive(self) -> list[PGresult]:
        """Return the results of all statements.

        Raises:
            Undone: one of them failed.
            psycopg.OperationalError: the connection broke.

        """
        results: list[PGresult] = []
        failed: PGresult | None = None
        while True:
            while self._pgconn.is_busy():
                self._poll.poll()
                self._pgconn.consume_input()
            result = self._pgconn.get_result()
            if result is None:  # the end of one statement
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                break
            if result.status not in SUCCEEDED and result.status != _ABORTED:
                failed = result
            results.append(result)
        self._is_read = True
        if failed is not None:
            raise Undone from get_error(self._pgconn, failed)
        return results

    def close(self) -> None:
        """Leave pipeline mode."""
        if self._is_read:
            self._pgconn.exit_pipeline_mode()
        else:
            self._pgconn.finish()
