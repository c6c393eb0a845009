"""gunicorn's threaded worker, with a main loop that does not wait for clients."""

import select
import selectors
import socket
import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import TConn, ThreadWorker

_NEXT_REQUEST: Final = 2  # milliseconds to wait for the next request of a busy client
_CLOSE_SECONDS: Final = 2.0
_CLOSE_BYTES: Final = 65_536


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Keeps a thread on a busy connection for a moment, and closes connections without blocking.

    After a response, a thread waits briefly for the client's next request, unless another request waits for a
    thread. This saves an iteration of the main loop, two hand-overs and some system calls.

    RFC 9112 section 9.6: a server closes its side first, and reads until the client has closed too. gunicorn
    does this in the main loop, where a client that keeps its side open blocks all other clients for two
    seconds per connection. This worker does it with the poller.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: deque[None] = deque()  # one for each request that has no thread yet
        self._closing: dict[TConn, int] = {}  # with the number of bytes still to read, oldest first

    def enqueue_req(self, conn: TConn) -> None:
        """Give a connection to a thread."""
        self._waiting.append(None)
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> object:
        """Serve a request and those that follow immediately, and return whether the connection stays open."""
        self._waiting.pop()
        stays = super().handle(conn)
        if stays is True:
            arrival = select.poll()
            arrival.register(conn.sock, select.POLLIN)
            while stays is True and self.alive and not self._waiting and arrival.poll(_NEXT_REQUEST):
                stays = super().handle(conn)
        return stays

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Respond to a malformed request or an uncaught error, and log it without data of the client."""
        if req is not None and hasattr(req, "uri"):
            req.uri = getattr(req, "path", "")  # the query may hold a code
        super().handle_error(
            req, client, addr, _without_text(exc) if isinstance(exc, ParseException) else exc
        )

    def finish_request(self, conn: TConn, served: Future[Any]) -> None:
        """Wait for the next request of a connection, or close it."""
        if served.cancelled() or served.exception() or served.result():
            super().finish_request(conn, served)
            return
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.settimeout(0)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._discard, conn))
        except (OSError, ValueError):  # the client has closed already
            self._close(conn)
        else:
            conn.timeout = time.monotonic() + _CLOSE_SECONDS
            self._closing[conn] = _CLOSE_BYTES

    def _discard(self, conn: TConn, client: socket.socket) -> None:
        try:
            read = len(client.recv(self._closing[conn]))
        except BlockingIOError:
            return
        except OSError:
            read = 0
        self._closing[conn] -= read
        if not read or not self._closing[conn]:
            self._finish_closing(conn)

    def murder_pending(self) -> None:
        """Close the connections whose client did not close its side in time."""
        super().murder_pending()
        now = time.monotonic()
        for conn in list(self._closing):
            if conn.timeout > now:
                break
            self._finish_closing(conn)

    def _finish_closing(self, conn: TConn) -> None:
        del self._closing[conn]
        self.poller.unregister(conn.sock)
        self._close(conn)

    def _close(self, conn: TConn) -> None:
        self.nr_conns -= 1
        conn.close()


def _without_text(error: ParseException) -> ParseException:
    """Return an error of the same class whose message is the name of the class."""
    kind = type(error)
    nameless = type(kind.__name__, (kind,), {"__str__": lambda _: kind.__name__})
    copy: ParseException = Exception.__new__(nameless)
    copy.__dict__.update(error.__dict__)
    return copy
