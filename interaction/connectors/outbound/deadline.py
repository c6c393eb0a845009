"""A time limit for a whole exchange, also when the other side sends one byte at a time."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Timer


class Deadline:
    """Closes a connection once the whole exchange takes too long.

    A socket timeout starts again with every byte, so it does not limit the whole.
    """

    def __init__(self, seconds: float, connection: Callable[[], socket.socket | None]) -> None:
        self.passed = False
        self._connection = connection
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Stop the timer: the exchange has ended."""
        self._timer.cancel()

    def _cut(self) -> None:
        self.passed = True
        if (connection := self._connection()) is not None:
            with suppress(OSError):
                # The plain shutdown, for a TLS socket too: it wakes the reader, who sees end of file.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
