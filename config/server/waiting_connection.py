"""A new connection in a flood, until its client sends something else than a request that must be refused."""

import asyncio
from typing import Any, Final

from config.server.connection import Connection


class WaitingConnection(asyncio.Protocol):
    """Refuses requests without a parser, a task and the other objects of a ``Connection``.

    Whatever else happens, a ``Connection`` takes its place.
    """

    def __init__(self, worker: Any) -> None:
        self._worker: Final = worker
        self._transport: Any = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        self._transport = transport
        self._worker.add(self)
        self._wait()
        if not transport.get_extra_info("peername"):
            self._continue()

    def data_received(self, data: bytes) -> None:
        """Refuse a request, or let a ``Connection`` serve what the client sends."""
        refusal = self._worker.overload.refuse(data) if self._worker.keeps_connections() else None
        if refusal is None:
            self._continue().data_received(data)
            return
        self._worker.nr += 1
        self._wait()
        self._transport.write(refusal)  # last, because it calls ``pause_writing`` if the client does not read

    def pause_writing(self) -> None:
        """Let a ``Connection`` wait for a client that does not read its responses."""
        self._continue().pause_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop()

    def stop_soon(self) -> None:
        """Wait for the next request, which may be on its way already, only for a moment."""
        self._continue().stop_soon()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if (seconds := self._worker.cfg.keepalive) > 0:  # gunicorn sets no timer for 0, either
            self._timer = self._worker.loop.call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        self._continue()._keepalive_timeout()  # noqa: SLF001 - as gunicorn calls it

    def _continue(self) -> Connection:
        """Return the connection that takes the place of this one."""
        self._stop()
        connection: Connection = self._worker.new_connection()
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)
        return connection

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._worker.remove(self)
