"""The database connections of a worker's loop (see ``database.postgresql.loop_connection``).

They are opened when requests first need them. While there are none, threads serve all requests.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from database import worker_connections
from database.batching import IN_LOOP

if TYPE_CHECKING:
    from database.postgresql.loop_connection import LoopConnection

_logger: Final = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0  # after a connection could not be opened


class LoopConnections:
    """The connections of one loop. Its methods are called in the loop, and do not wait.

    ``context`` has the context variables with which batches are served in the loop, and ``outside`` those for
    everything else.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, submit: Callable[..., Any]) -> None:
        self._loop: Final = loop
        self._submit: Final = submit
        self._free: Final[list[LoopConnection]] = []
        self._all: Final[set[LoopConnection]] = set()
        self._is_supported: Final = _is_supported()
        self._is_closed = False
        self._callbacks: Final[deque[Callable[[], None]]] = deque()
        self._is_opening = False
        self._opens_at = 0.0
        self._is_reported = False
        self.outside: Final[Context] = copy_context()
        self.context: Final[Context] = copy_context()
        if self._is_supported:
            self.context.run(_prepare_context)

    def call_when_free(self, callback: Callable[[], None]) -> None:
        """Have a function called whenever a connection becomes free."""
        self._callbacks.append(callback)

    def has_any(self) -> bool:
        """Return whether there are connections, which may all be busy."""
        return bool(self._all)

    def has_free(self) -> bool:
        """Return whether a connection is free."""
        return bool(self._free)

    def take(self) -> "LoopConnection | None":
        """Return a free connection, or None if there is none. Open another one if there are too few."""
        taken = None
        while self._free and taken is None:
            connection = self._free.pop()
            if connection.is_usable():
                taken = connection
            else:
                self._drop(connection)
        self._open_missing()
        return taken

    def give_back(self, connection: "LoopConnection") -> None:
        """Take a connection back after a batch. Close it if it cannot be used again."""
        if connection.is_usable():
            self._keep(connection)
        else:
            self._drop(connection)

    def _keep(self, connection: "LoopConnection") -> None:
        self._free.append(connection)
        self._callbacks.rotate()  # so that each is the first at times
        for callback in self._callbacks:
            callback()

    def check(self) -> None:
        """Give up batches that take too long, and replace a lost connection. Call this every second or so."""
        for connection in tuple(self._all):
            connection.check()
        if self._all:
            self._open_missing()

    def close(self) -> None:
        """Close all connections, and open no others."""
        self._is_closed = True
        for connection in self._all:
            connection.close()

    def _drop(self, connection: "LoopConnection") -> None:
        connection.close()
        self._all.discard(connection)

    def _open_missing(self) -> None:
        if self._is_opening or self._is_closed or not self._is_supported:
            return
        if len(self._all) < worker_connections.OF_LOOP and self._loop.time() >= self._opens_at:
            self._is_opening = True
            self._submit(self._connect)

    def _connect(self) -> None:
        """Connect, in a thread."""
        from database.postgresql.loop_connection import LoopConnection  # noqa: PLC0415 - not with SQLite

        connection = None
        try:
            connection = LoopConnection()
        except Exception as failure:  # noqa: BLE001 - the next attempt may succeed
            self._report(failure)
        self._loop.call_soon_threadsafe(self._add, connection, context=self.outside)

    def _report(self, failure: Exception) -> None:
        if not self._is_reported:
            self._is_reported = True
            _logger.warning(
                "the loop could not connect to the database, so threads may serve its requests: %s", failure
            )

    def _add(self, connection: "LoopConnection | None") -> None:
        self._is_opening = False
        if self._is_closed:
            if connection is not None:
                connection.close()
            return
        if connection is not None:
            connection.attach(self._loop)
            if connection.is_usable():
                self._is_reported = False
                self._all.add(connection)
                self._keep(connection)
                return
            connection.close()
        self._opens_at = self._loop.time() + _PAUSE_SECONDS


def _is_supported() -> bool:
    """Return whether the database is PostgreSQL with prepared statements, without a pool in this process."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    is_prepared = database.settings_dict["OPTIONS"].get("prepare_threshold") is not None
    return database.vendor == "postgresql" and is_prepared and not settings.DATABASE_POOL


def _prepare_context() -> None:
    from database.postgresql.loop_connection import CompilingDatabase  # noqa: PLC0415 - as above

    IN_LOOP.set(True)
    database: Any = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = CompilingDatabase(database.settings_dict)
