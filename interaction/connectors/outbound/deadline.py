"""An end to conversations, also to those in which the other side says one byte at a time."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Timer


class Deadline:
    """Cuts a connection once the whole conversation took too long.

    A time-out of the socket counts anew with every byte, so it alone is no end.
    """

    def __init__(self, seconds: float, connection: Callable[[], socket.socket | None]) -> None:
        self.passed = False
        self._connection = connection
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Let the connection live: the conversation is over."""
        self._timer.cancel()

    def _cut(self) -> None:
        self.passed = True
        if (connection := self._connection()) is not None:
            with suppress(OSError):
                # The plain shutdown, also of a TLS socket: the reader wakes up and finds the end.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
