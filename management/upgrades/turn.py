"""One migration at a time, which makes nobody wait for long.

A statement that waits for a table makes all wait that come after it, readers too. So a table is
waited for briefly, and again after a pause in which the others go on.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.core.management import CommandError
from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

KEY: Final = 0x6761_7465  # of no meaning but that all releases use the same
_LOOK_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 2
# lock_not_available, deadlock_detected: what was begun is undone, and may be begun again.
_HELD: Final = frozenset({"55P03", "40P01"})
_SESSION: Final = {
    "statement_timeout": "0",  # a role may have one; an index takes as long as it takes
    # When this process is killed, its statement ends too, and does not keep the next one out.
    "client_connection_check_interval": "1s",
}


@contextmanager
def taken(connection: BaseDatabaseWrapper, *, patience: float) -> Iterator[None]:
    """Keep other migrations of this database out. SQLite has one writer anyway.

    Raises:
        CommandError: another migration was still running after ``patience`` seconds.

    """
    if connection.vendor != "postgresql":
        yield
        return
    # Tried again and again, never waited for: a statement that waits keeps a snapshot, and whoever
    # builds an index waits until all older snapshots are gone. The two would wait for each other.
    deadline = time.monotonic() + patience
    while not _asked(connection, "SELECT pg_try_advisory_lock(%s)", KEY):
        if time.monotonic() > deadline:
            raise CommandError(f"another migration is still running after {patience:g} seconds")
        time.sleep(_LOOK_SECONDS)
    try:
        for name, value in _SESSION.items():
            _set(connection, name, value)
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            _asked(connection, "SELECT pg_advisory_unlock(%s)", KEY)
            for name in (*_SESSION, "lock_timeout"):
                _reset(connection, name)


def insist(
    connection: BaseDatabaseWrapper,
    work: Callable[[], None],
    *,
    lock_timeout: float,
    patience: float,
    say: Callable[[str], Any],
) -> None:
    """Do ``work``, which goes on where it stopped, until no table is held against it.

    Others wait for a table for ``lock_timeout`` seconds at a time at most, and then have a pause.

    Raises:
        CommandError: a table was not to be had within ``patience`` seconds.

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
                f"a table was not to be had within {patience:g} seconds, because something else holds it. "
                "The migration that was under way is undone, those before it stay: run it again, "
                "or look for long transactions first"
            )
        say("a table is held by others; trying again in a moment")
        time.sleep(_PAUSE_SECONDS)


def _set(connection: BaseDatabaseWrapper, name: str, value: str) -> None:
    try:
        _asked(connection, "SELECT set_config(%s, %s, false)", name, value)
    except DatabaseError:
        # Not every platform can tell that a client has gone.
        if name == "lock_timeout":
            raise


def _reset(connection: BaseDatabaseWrapper, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"RESET {name}")


def _asked(connection: BaseDatabaseWrapper, statement: str, *values: str | int) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]
