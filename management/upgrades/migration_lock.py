"""A lock so that one migration runs at a time, and retries so that it blocks requests only briefly.

A statement that waits for a table lock blocks all later statements, including reads. So a migration waits for
a lock only briefly, and retries after a pause in which other statements continue.
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
_HELD: Final = frozenset({"55P03", "40P01"})
_SESSION: Final = {
    "statement_timeout": "0",  # the role may have one, and building an index may take longer
    # If this process is killed, its statement ends too, and its locks are released.
    "client_connection_check_interval": "1s",
}


@contextmanager
def hold(connection: BaseDatabaseWrapper, *, patience: float) -> Iterator[None]:
    """Hold the lock against other migrations of this database. SQLite has one writer anyway.

    Raises:
        CommandError: another migration was still running after ``patience`` seconds.

    """
    if connection.vendor != "postgresql":
        yield
        return
    # Polled, because a statement that waits for the lock keeps a snapshot, and building an index waits until
    # all older snapshots are gone. The two would wait for each other.
    deadline = time.monotonic() + patience
    while not _query(connection, "SELECT pg_try_advisory_lock(%s)", KEY):
        if time.monotonic() > deadline:
            raise CommandError(f"another migration is still running after {patience:g} seconds")
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
    """Run ``work``, which continues where it stopped, until it gets every table lock that it needs.

    One attempt blocks other statements for at most ``lock_timeout`` seconds; then there is a pause.

    Raises:
        CommandError: a table was locked for ``patience`` seconds.

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
            if getattr(error.__cause__, "sqlstate", None) not in _HELD:
                raise
        else:
            return
        if time.monotonic() > deadline:
            raise CommandError(
                f"a table was still locked after {patience:g} seconds. This migration was rolled back; "
                "earlier ones stay applied. Look for long transactions (pg_stat_activity) and run it again"
            )
        say("a table is locked; retrying in a moment")
        time.sleep(_PAUSE_SECONDS)


def _set(connection: BaseDatabaseWrapper, name: str, value: str) -> None:
    try:
        _query(connection, "SELECT set_config(%s, %s, false)", name, value)
    except DatabaseError:
        # client_connection_check_interval is not supported on every platform.
        if name == "lock_timeout":
            raise


def _reset(connection: BaseDatabaseWrapper, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"RESET {name}")


def _query(connection: BaseDatabaseWrapper, statement: str, *values: str | int) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]
