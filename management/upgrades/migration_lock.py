"""The lock that lets one migration run at a time, and retries that keep a migration from blocking requests.

A statement that waits for a table lock blocks all later statements on the table, including reads. So a
migration waits for a lock only briefly, and retries after a pause in which other statements continue.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.core.management import CommandError
from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

KEY: Final = 0x6761_7465  # arbitrary, the same in all releases
_POLL_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 2
# lock_not_available, deadlock_detected: the transaction was rolled back and can be retried.
_RETRYABLE: Final = frozenset({"55P03", "40P01"})
_SESSION: Final = {
    "statement_timeout": "0",  # building an index may take longer than the timeout of the role
    # If this process is killed, its statement ends too, and its locks are released.
    "client_connection_check_interval": "1s",
}


@contextmanager
def hold(connection: BaseDatabaseWrapper, *, patience: float) -> Iterator[None]:
    """Hold the migration lock of a PostgreSQL database. SQLite needs none, because it has one writer.

    Raises:
        CommandError: another migration still holds the lock after ``patience`` seconds.

    """
    if connection.vendor != "postgresql":
        yield
        return
    # The lock is polled. A statement that waits for the lock would keep a snapshot, and building an index
    # waits until all older snapshots are gone: a deadlock.
    deadline = time.monotonic() + patience
    while not _query(connection, "SELECT pg_try_advisory_lock(%s)", KEY):
        if time.monotonic() > deadline:
            raise CommandError(f"another migration still runs after {patience:g} seconds: try again later")
        time.sleep(_POLL_SECONDS)
    try:
        for name, value in _SESSION.items():
            _set(connection, name, value)
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            _query(connection, "SELECT pg_advisory_unlock(%s)", KEY)
            for name in (*_SESSION, "lock_timeout"):
                _reset(connection, name)


def retry(
    connection: BaseDatabaseWrapper,
    work: Callable[[], None],
    *,
    lock_timeout: float,
    patience: float,
    say: Callable[[str], Any],
) -> None:
    """Call ``work`` until it gets every table lock that it needs. Each call continues where the last stopped.

    An attempt blocks other statements for at most ``lock_timeout`` seconds. A pause follows.

    Raises:
        CommandError: a table is still locked after ``patience`` seconds.

    """
    if connection.vendor != "postgresql":
        work()
        return
    deadline = time.monotonic() + patience
    while True:
        _set(connection, "lock_timeout", f"{round(lock_timeout * 1000)}ms")
        try:
            work()
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in _RETRYABLE:
                raise
        else:
            return
        if time.monotonic() > deadline:
            raise CommandError(
                f"a table was still locked after {patience:g} seconds. This migration was rolled back, and "
                "earlier ones stay applied. Look for long transactions in pg_stat_activity, and run migrate "
                "again"
            )
        say("a table is locked; retrying in a moment")
        time.sleep(_PAUSE_SECONDS)


def _set(connection: BaseDatabaseWrapper, name: str, value: str) -> None:
    try:
        _query(connection, "SELECT set_config(%s, %s, false)", name, value)
    except DatabaseError:
        # Not every platform supports client_connection_check_interval.
        if name == "lock_timeout":
            raise


def _reset(connection: BaseDatabaseWrapper, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"RESET {name}")


def _query(connection: BaseDatabaseWrapper, statement: str, *values: str | int) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]
