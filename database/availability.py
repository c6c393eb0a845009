"""Failures of the database that end by themselves: it is restarted, or a standby takes over."""

from typing import Final

from django.db import InterfaceError, InternalError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

_READ_ONLY: Final = "25006"  # read_only_sql_transaction: the server is a standby
_LIMIT_EXCEEDED: Final = "54"  # the class of limits that a statement exceeds each time, such as a row's size

_TOO_MANY_PARAMETERS: Final = "too many SQL variables"  # SQLite has no code of its own for it


def is_unavailable(error: BaseException | None) -> bool:
    """Return whether an error means that the database cannot be reached or takes no writes now."""
    sqlstate = getattr(getattr(error, "__cause__", None), "sqlstate", None) or ""
    if isinstance(error, InternalError):
        return bool(sqlstate == _READ_ONLY)
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return not (sqlstate.startswith(_LIMIT_EXCEEDED) or str(error) == _TOO_MANY_PARAMETERS)


def is_read_only(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the server takes no writes. SQLite reports a read-only file when it is written."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")
