"""A cursor whose prepared statements keep working after a migration has changed a column."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg.pq import TransactionStatus


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's cursor, which prepares a statement again if the type of its result has changed."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Execute a statement. If a migration has invalidated its plan, retry it.

        Without the retry each execution would fail until the connection is closed. Inside a transaction a
        retry is not possible, but the rollback makes psycopg discard all plans.
        """
        try:
            return super().execute(*args, **kwargs)
        except errors.FeatureNotSupported:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL")
            return super().execute(*args, **kwargs)
