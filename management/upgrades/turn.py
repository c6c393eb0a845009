"""One migration at a time, which gives up rather than make everybody wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.core.management import CommandError
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

_KEY: Final = 0x6761_7465  # of no meaning but that all releases use the same
_PATIENCE: Final = 60  # seconds until another migration must be done
_LOCK_NOT_AVAILABLE: Final = "55P03"


@contextmanager
def taken(connection: BaseDatabaseWrapper, *, lock_timeout: int) -> Iterator[None]:
    """Keep other migrations out, and wait no longer than ``lock_timeout`` seconds for a table.

    A statement that waits for a table makes all wait that come after it, readers too. SQLite
    has one writer anyway.

    Raises:
        CommandError: another migration runs, or a table was not to be had.

    """
    if connection.vendor != "postgresql":
        yield
        return
    with _told(f"another migration has been running for {_PATIENCE} seconds"):
        _execute(connection, "SELECT set_config('lock_timeout', %s, false)", f"{_PATIENCE}s")
        _execute(connection, "SELECT pg_advisory_lock(%s)", _KEY)
    try:
        _execute(connection, "SELECT set_config('lock_timeout', %s, false)", f"{lock_timeout}s")
        with _told(
            f"a table was not to be had within {lock_timeout} seconds, because something else holds it. "
            "The migration that was under way is undone, those before it stay: run it again, "
            "or look for long transactions first"
        ):
            yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            _execute(connection, "SELECT pg_advisory_unlock(%s)", _KEY)
            _execute(connection, "SELECT set_config('lock_timeout', %s, false)", "0")


@contextmanager
def _told(reason: str) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise CommandError(reason) from None


def _execute(connection: BaseDatabaseWrapper, statement: str, value: str | int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [value])
