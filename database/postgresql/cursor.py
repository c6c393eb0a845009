"""A cursor whose prepared statements survive a migration that changes a column."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg.pq import TransactionStatus


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's cursor, which prepares a statement again if the type of its result has changed."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Execute a statement, and retry it outside a transaction if a migration invalidated its plan.

        Otherwise each execution would fail until the connection is closed. In a transaction a retry is not
        possible; its rollback makes psycopg discard all plans.
        """
        try:
            return super().execute(*args, **kwargs)
        except errors.FeatureNotSupported:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL")
            return super().execute(*args, **kwargs)
