"""A cursor that prepares a statement again after a migration has changed a column."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from database.postgresql.prepared import STALE


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's cursor, which prepares a statement again if its plan or its name is no longer valid."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Execute a statement. If a migration has invalidated its plan, or its name is unknown, retry it.

        Without the retry each execution would fail until the connection is closed. Inside a transaction a
        retry is not possible, but the rollback makes psycopg discard all plans.
        """
        try:
            return super().execute(*args, **kwargs)
        except STALE:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL")
            return super().execute(*args, **kwargs)
