"""Django's PostgreSQL backend, with a cheaper check of connections, prepared statements and pipelines.

It also observes the limit on the parameters of a statement.
"""

import select
from collections.abc import Sequence
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper

from database.batching import Call, Outcome
from database.postgresql import pipeline, timestamps
from database.postgresql.cursor import Cursor
from database.postgresql.operations import DatabaseOperations
from database.postgresql.prepared import PreparedCursor


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection, with a cheap check that it is open and a cursor for compiled statements."""

    ops_class = DatabaseOperations
    _prepared_cursor: PreparedCursor | None = None

    def get_connection_params(self) -> dict[str, Any]:
        """Return the parameters of new connections."""
        params = super().get_connection_params()
        return params | {
            "cursor_factory": Cursor,
            "context": timestamps.with_fast_timestamps(params["context"]),
        }

    def prepared_cursor(self) -> CursorWrapper | PreparedCursor:
        """Return a cursor for a compiled statement, whose result must be read before the next call.

        Use it in a ``with`` block: at the end, psycopg's errors become Django's. Django's own wrapper, which
        replaces errors at each call, is used only if statements are logged or wrapped.
        """
        self.close_if_health_check_failed()
        if self.connection is None:
            self.ensure_connection()
        connection: Any = self.connection
        if connection.prepare_threshold is None:
            return self.cursor()
        if self._prepared_cursor is None or self._prepared_cursor.connection is not connection:
            errors = self.wrap_database_errors
            self._prepared_cursor = PreparedCursor(connection, self.create_cursor, errors)
        if not (self.queries_logged or self.execute_wrappers):
            self.validate_thread_sharing()
            self.validate_no_broken_transaction()
            return self._prepared_cursor
        database: Any = self  # the stubs have no ``_prepare_cursor``
        wrapper: CursorWrapper = database._prepare_cursor(self._prepared_cursor)  # noqa: SLF001
        return wrapper

    def execute_batch(self, calls: Sequence[Call]) -> list[Outcome | Exception] | None:
        """Execute calls in one transaction, and return the outcome or the error of each.

        The errors are those of ``pipeline.execute``, with ``django.db.Error`` in place of ``psycopg.Error``.

        Return None, with nothing executed, if a transaction has begun, if a statement is not prepared yet, or
        if statements are logged or wrapped.

        Raises:
            django.db.OperationalError: the connection broke. It is not known whether the changes were made.

        """
        with self.prepared_cursor():  # connects, too
            cursor = self._prepared_cursor
        if cursor is None or self.execute_wrappers or self.queries_logged:
            return None
        with self.wrap_database_errors:
            executed = pipeline.execute(cursor, calls)
        return executed and self.wrap_errors(executed)

    def wrap_errors(self, outcomes: Sequence[Outcome | Exception]) -> list[Outcome | Exception]:
        """Return the outcomes, with Django's errors in the place of those of psycopg."""
        return [self._wrap(each) if isinstance(each, Exception) else each for each in outcomes]

    def _wrap(self, error: Exception) -> Exception:
        """Return Django's error for one of psycopg, or the error itself if it is another one."""

        def fail() -> None:
            raise error

        try:
            self.wrap_database_errors(fail)()
        except Exception as wrapped:  # noqa: BLE001 - it is returned
            return wrapped
        return error

    def is_usable(self) -> bool:
        """Return whether the connection can be used.

        When the server closes a connection, the idle socket becomes readable. Only then is Django's check
        needed, which sends a query. A connection to a standby is not used again: after a failover, a new
        connection may reach the primary.
        """
        if self.connection is None or self.connection.closed:
            return False
        if self.connection.info.parameter_status("in_hot_standby") == "on":
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
