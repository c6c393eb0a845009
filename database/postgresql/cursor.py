"""A cursor that prepares a statement again after a migration has changed a column."""

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from database.postgresql.prepared import STALE

_MAX_PARAMETERS: Final = 65_535  # the protocol counts them in 16 bits


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's cursor, which prepares a statement again if its plan or its name is no longer valid."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Execute a statement. If a migration has invalidated its plan, or its name is unknown, retry it.

        Without the retry each execution would fail until the connection is closed. Inside a transaction a
        retry is not possible, but the rollback makes psycopg discard all plans.

        Raises:
            psycopg.ProgrammingError: the statement has too many parameters.

        """
        _check_parameters(*args)
        try:
            return super().execute(*args, **kwargs)
        except STALE:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL")
            return super().execute(*args, **kwargs)


def _check_parameters(_: object, params: Sequence[Any] | None = None) -> None:
    """Check the number of parameters. libpq's own error is that of a connection that cannot be used.

    Raises:
        psycopg.ProgrammingError: there are too many parameters.

    """
    if params is not None and len(params) > _MAX_PARAMETERS:
        raise psycopg.ProgrammingError(f"too many parameters: {len(params)}")
