"""gunicorn's worker with threads, whose main loop waits for no client and is asked less often."""

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

_NEXT: Final = 2  # milliseconds in which a busy client sends its next request
_SECONDS: Final = 2.0
_BYTES: Final = 65_536


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Stays with busy connections for a moment, and parts from connections beside everything else.

    A thread that has answered waits for the next request of the same client, unless somebody waits for a
    thread: the main loop, two hand-overs and some system calls are spared then.

    A server closes its own side first and reads on until the client has closed too, for a while: RFC 9112
    section 9.6. gunicorn does so in the loop that hands out all requests, so that one client who keeps its
    side open holds up everybody: two seconds for each connection that it leaves.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._waiting: deque[None] = deque()  # one for each request that has no thread yet
        self._parting: dict[TConn, int] = {}  # and how many bytes are still read; the oldest comes first

    def enqueue_req(self, conn: TConn) -> None:
        """Have a thread look after a connection."""
        self._waiting.append(None)
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> object:
        """Serve a request, and those that follow at once; tell whether the connection stays open."""
        self._waiting.pop()
        stays = super().handle(conn)
        if stays is True:
            arrival = select.poll()
            arrival.register(conn.sock, select.POLLIN)
            while stays is True and self.alive and not self._waiting and arrival.poll(_NEXT):
                stays = super().handle(conn)
        return stays

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Answer what cannot be parsed, or an error that nobody caught, and log neither what was sent."""
        if req is not None and hasattr(req, "uri"):
            req.uri = getattr(req, "path", "")  # the query may hold a code
        super().handle_error(
            req, client, addr, _without_text(exc) if isinstance(exc, ParseException) else exc
        )

    def finish_request(self, conn: TConn, served: Future[Any]) -> None:
        """Wait for the next request of a connection, or part from it."""
        if served.cancelled() or served.exception() or served.result():
            super().finish_request(conn, served)
            return
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.settimeout(0)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._read_on, conn))
        except (OSError, ValueError):  # the client was faster
            self._end(conn)
        else:
            conn.timeout = time.monotonic() + _SECONDS
            self._parting[conn] = _BYTES

    def _read_on(self, conn: TConn, client: socket.socket) -> None:
        try:
            read = len(client.recv(self._parting[conn]))
        except BlockingIOError:
            return
        except OSError:
            read = 0
        self._parting[conn] -= read
        if not read or not self._parting[conn]:
            self._leave(conn)

    def murder_pending(self) -> None:
        """Close what waited for long enough."""
        super().murder_pending()
        now = time.monotonic()
        for conn in list(self._parting):
            if conn.timeout > now:
                break
            self._leave(conn)

    def _leave(self, conn: TConn) -> None:
        del self._parting[conn]
        self.poller.unregister(conn.sock)
        self._end(conn)

    def _end(self, conn: TConn) -> None:
        self.nr_conns -= 1
        conn.close()


def _without_text(error: ParseException) -> ParseException:
    """Return an error of the same kind whose text is the name of its kind."""
    kind = type(error)
    nameless = type(kind.__name__, (kind,), {"__str__": lambda _: kind.__name__})
    copy: ParseException = Exception.__new__(nameless)
    copy.__dict__.update(error.__dict__)
    return copy
