"""A cursor whose prepared statements survive that a column changes under them."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg.pq import TransactionStatus


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's, which plans a statement again when what it answers has another type."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Execute; outside a transaction once more, when a migration made the plan useless.

        The plan would stay so, and every repetition fail, until the connection ends. Within a
        transaction nothing can be repeated; its rollback makes psycopg forget all plans.
        """
        try:
            return super().execute(*args, **kwargs)
        except errors.FeatureNotSupported:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL")
            return super().execute(*args, **kwargs)
