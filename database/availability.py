"""Failures of the database that end by themselves: it is restarted, or a standby takes over."""

from typing import Final

from django.db import InterfaceError, InternalError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

_READ_ONLY: Final = "25006"  # read_only_sql_transaction: the server is a standby


def is_unavailable(error: BaseException | None) -> bool:
    """Return whether an error means that the database cannot be reached or takes no writes now."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == _READ_ONLY
    return isinstance(error, OperationalError | InterfaceError)


def is_read_only(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the server takes no writes. SQLite reports a read-only file when it is written."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")
