"""gunicorn's ASGI worker: a loop that parses and writes, and threads in which Django serves requests."""

import asyncio
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from gunicorn.workers.gasgi import ASGIWorker

from config.server import reason_phrases
from config.server.batches import Batches, Surfaces
from config.server.connection import Connection
from config.server.shared_reads import Finish, Key, SharedReads
from config.server.waiting_connection import WaitingConnection
from config.server.wsgi_requests import Send
from config.server.wsgi_responses import Stream, Whole, call
from identity.http.answers import Answer

if TYPE_CHECKING:
    from config.server.known_heads import KnownHeads
    from config.server.loop_connections import LoopConnections
    from config.server.overload import Overload

_RETRY_SECONDS: Final = 1.0  # to wait before accepting again, if there was no free file descriptor
_HEARTBEAT_SECONDS: Final = 1.0


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """Serves a WSGI application. The loop never waits for the application or its database.

    Connections are accepted one by one, so that the worker that has less to do accepts the next.
    """

    alive: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections: Final[set[Connection | WaitingConnection]] = set()
        self._opening: Final[set[asyncio.Task[Any]]] = set()
        self._running = 0  # requests that are being served, also those of clients that have left
        self._most: Final[int] = self.cfg.worker_connections  # connections, and requests
        self._batches: Final[dict[str, Batches]] = {}  # by route
        # Slow clients with large bodies hold at most a quarter of the threads.
        self.large_bodies: Final = asyncio.Semaphore(self.cfg.threads // 4)
        self._is_accepting = False
        self._stopping: Final = asyncio.Event()
        # ``_serve`` sets these, because the apps and the loop do not exist yet.
        self._admit: Callable[[dict[str, Any]], Whole | AbstractContextManager[None] | None]
        self._surfaces: Surfaces
        self.heads: KnownHeads
        self.overload: Overload
        self.new_connection: Callable[[], Connection]
        self._pool: ThreadPoolExecutor
        self._database: LoopConnections
        self._documents: SharedReads[Answer]

    @classmethod
    def check_config(cls, cfg: object, log: object) -> None:
        """Accept ``threads``, which gunicorn's worker does not use."""

    async def _serve(self) -> None:
        """Serve until the worker is told to stop or gunicorn has ended."""
        # These modules need the apps, which the worker has loaded.
        from config.server import documents, early_refusals, surfaces  # noqa: PLC0415
        from config.server.document_connection import DocumentConnection  # noqa: PLC0415
        from config.server.known_heads import KnownHeads  # noqa: PLC0415
        from config.server.loop_connections import LoopConnections  # noqa: PLC0415
        from config.server.overload import Overload  # noqa: PLC0415

        reason_phrases.complete()
        self._admit = early_refusals.admit
        self.overload = Overload(self.cfg)
        self._surfaces = surfaces
        self.heads = KnownHeads()
        self.new_connection = partial(DocumentConnection, self)
        self._pool = ThreadPoolExecutor(self.cfg.threads)
        self._database = LoopConnections(self.loop, self._pool.submit)
        self._documents = SharedReads(self.loop, self._pool, documents.read, self._forget_requests)
        self._accept(enabled=True)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            self._database.check()
            await self._wait(_HEARTBEAT_SECONDS)
        self.alive = False
        await self._shutdown()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def handle_exit_signal(self) -> None:
        """Stop as soon as all requests are answered."""
        super().handle_exit_signal()
        self._stopping.set()

    def handle_quit_signal(self) -> None:
        """Stop at once."""
        super().handle_quit_signal()
        self._stopping.set()

    async def _shutdown(self) -> None:
        self._accept(enabled=False)
        for listener in self.sockets:
            listener.close()  # so that the system refuses new clients once all workers stop
        for connection in tuple(self._connections):
            connection.stop_soon()
        deadline = self.loop.time() + self.cfg.graceful_timeout
        while (self._connections or self._opening or self._running) and not self._quick_shutdown:
            if self.loop.time() > deadline:
                break
            self.notify()
            self._database.check()
            await asyncio.sleep(0.05)
        self._database.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _accept(self, *, enabled: bool) -> None:
        """Start or stop accepting connections."""
        if enabled is self._is_accepting:
            return
        self._is_accepting = enabled
        for listener in self.sockets:
            if enabled:
                listener.settimeout(0)
                self.loop.add_reader(listener.fileno(), self._accept_one, listener.sock)
            else:
                self.loop.remove_reader(listener.fileno())

    def _accept_again(self) -> None:
        if self.alive and not self._is_full():
            self._accept(enabled=True)

    def _is_full(self) -> bool:
        """Return whether there are too many connections, or too many requests, also of clients that left."""
        return max(len(self._connections), self._running) >= self._most

    def _accept_one(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):  # another worker was faster, or the client left
            return
        except OSError:  # no free files
            self._accept(enabled=False)
            self.loop.call_later(_RETRY_SECONDS, self._accept_again)
            return
        client.settimeout(0)
        opening = self.loop.create_task(self.loop.connect_accepted_socket(self._new_protocol, client))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    def _new_protocol(self) -> Connection | WaitingConnection:
        return WaitingConnection(self) if self.overload.is_active() else self.new_connection()

    def keeps_connections(self) -> bool:
        """Return whether a connection stays open after the next response."""
        return bool(self.alive and self.nr + 1 < self.max_requests)

    def add(self, connection: Connection | WaitingConnection) -> None:
        """Count a connection."""
        self._connections.add(connection)
        if self._is_full():
            self._accept(enabled=False)

    def remove(self, connection: Connection | WaitingConnection) -> None:
        """Forget a connection that is closed."""
        self._connections.discard(connection)
        self._accept_again()

    async def respond(self, environ: dict[str, Any], send: Send, connection: Connection) -> None:
        """Serve a request by itself, or refuse it, and send the response."""
        admission = self._admit(environ)
        if isinstance(admission, Whole):
            whole: Whole | None = admission
        else:
            stream = Stream(self.loop, send, connection)
            whole = await self._serve_in_thread(environ, stream, admission or nullcontext())
        if whole is not None:
            await send(whole.start)
            await send(whole.body)

    def serve_in_batch(self, environ: dict[str, Any], found: Any) -> "asyncio.Future[Answer | None]":
        """Return the future answer of a surface, or a future None if the request must be served by itself."""
        batches = self._batches.get(found.route)
        if batches is None:
            batches = self._batches[found.route] = Batches(
                self.loop,
                self._pool.submit,
                self._surfaces,
                self._database,
                partial(self._forget_requests, 1),
            )
        self._note_request()
        return batches.add((environ, found))

    def read_document(self, key: Key, finish: Finish[Any]) -> None:
        """Have ``finish`` called with the document of the next read, or with its failure."""
        self._note_request()
        self._documents.join(key, finish)

    async def _serve_in_thread(
        self, environ: dict[str, Any], stream: Stream, place: AbstractContextManager[None]
    ) -> Whole | None:
        finished: asyncio.Future[Whole | None] = self.loop.create_future()
        self._note_request()
        self._pool.submit(self._run_in_thread, environ, stream, finished, place)
        return await finished

    def _run_in_thread(
        self,
        environ: dict[str, Any],
        stream: Stream,
        finished: "asyncio.Future[Whole | None]",
        place: AbstractContextManager[None],
    ) -> None:
        result: Whole | BaseException | None
        try:
            with place:
                # gunicorn's ASGIWorker keeps the application in ``asgi``: here it is that of ``config.wsgi``.
                result = None if stream.is_closed else call(self.asgi, environ, stream)
        except ConnectionError as failure:  # no failure if the client left during the response
            result = None if stream.is_closed else failure
        except BaseException as failure:  # noqa: BLE001 - gunicorn answers and logs it
            result = failure
        stream.release()
        self.loop.call_soon_threadsafe(self._finish, finished, result)

    def _finish(self, finished: "asyncio.Future[Whole | None]", result: Whole | BaseException | None) -> None:
        self._forget_requests(1)
        if finished.done():  # the client has left
            return
        if isinstance(result, BaseException):
            finished.set_exception(result)
        else:
            finished.set_result(result)

    def _note_request(self) -> None:
        self._running += 1
        if self._is_full():
            self._accept(enabled=False)

    def _forget_requests(self, number: int) -> None:
        self._running -= number
        self._accept_again()
