"""A time limit for a whole exchange, even if the other side sends one byte at a time."""

import os
import socket
from contextlib import suppress
from threading import Lock, Timer


class Deadline:
    """Shuts down a connection when the whole exchange takes too long.

    A socket timeout starts again with every byte, so it does not limit the duration of an exchange. The
    connection is held by a file descriptor of its own, because a TLS handshake detaches the socket.
    """

    def __init__(self, seconds: float, connection: socket.socket) -> None:
        self.passed = False
        self._connection = socket.socket(fileno=os.dup(connection.fileno()))
        self._lock = Lock()  # a number of a closed descriptor may be that of another connection
        self._timer = Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Stop the timer after the exchange."""
        self._timer.cancel()
        with self._lock:
            self._connection.close()

    def _shut_down(self) -> None:
        self.passed = True
        with self._lock, self._connection, suppress(OSError):
            # This ends TLS connections too: the reader wakes at end of file.
            self._connection.shutdown(socket.SHUT_RDWR)
