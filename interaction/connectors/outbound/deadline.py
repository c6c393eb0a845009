"""A time limit for a whole exchange, even if the other side sends one byte at a time."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Timer


class Deadline:
    """Closes a connection when the whole exchange takes too long.

    A socket timeout starts again with every byte, so it does not limit the duration of an exchange.
    """

    def __init__(self, seconds: float, connection: Callable[[], socket.socket | None]) -> None:
        self.passed = False
        self._connection = connection
        self._timer = Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Stop the timer after the exchange."""
        self._timer.cancel()

    def _shut_down(self) -> None:
        self.passed = True
        if (connection := self._connection()) is not None:
            with suppress(OSError):
                # The method of plain sockets works for TLS sockets too: the reader wakes at end of file.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
