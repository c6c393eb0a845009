"""Requests that arrive together are served together, in the loop or by one thread.

The loop serves a batch when one of its database connections is free (see ``loop_connections``). Requests that
arrive while none is free wait for one, or for 50 ms: then a thread serves them. So the busier a worker is,
the fewer round trips and commits a request takes.

A thread also serves the requests for which the loop would have to wait. If the loop has no connections,
threads serve all batches: a batch then begins when another one has ended, or when its first request has
waited for 50 ms.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from identity.http.answers import Answer

if TYPE_CHECKING:
    from config.server.loop_connections import LoopConnections
    from database.batching import Execute
    from database.postgresql.loop_connection import LoopConnection

_MOST_IN_THREAD: Final = 32  # requests in a batch that a thread serves
_MOST_IN_LOOP: Final = 16  # in one that the loop serves, which does nothing else while it signs
_MOST_BATCHES: Final = 4  # of a route in threads at once
_WAIT_SECONDS: Final = 0.05  # for which requests wait for a connection or for a running batch

_CLOCK_STEP_SECONDS: Final = 0.001  # of ``uvloop``
_logger: Final = logging.getLogger(__name__)

Request = tuple[Any, Any]  # what ``config.server.surfaces.serve_batch`` gets
Entry = tuple[Request, "asyncio.Future[Answer | None]"]


class Deferred(Enum):
    """What a request gets in the place of an answer if the loop cannot serve it without waiting."""

    TO_THREAD = "to thread"


class Surfaces(Protocol):
    """The functions of ``config.server.surfaces`` that serve a batch."""

    def serve_batch(self, requests: Sequence[Request]) -> list[Answer | None]:
        """Serve a batch in a thread."""

    def start_batch(
        self,
        requests: Sequence[Request],
        execute: "Execute",
        finish: Callable[[Sequence[Answer | Deferred | None]], None],
    ) -> None:
        """Begin to serve a batch in the loop."""


class Batches:
    """The batches of one route."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        submit: Callable[..., Any],
        surfaces: Surfaces,
        connections: "LoopConnections",
        note_end: Callable[[], None],
    ) -> None:
        self._loop: Final = loop
        self._submit: Final = submit
        self._surfaces: Final = surfaces
        self._connections: Final = connections
        self._note_end: Final = note_end
        self._waiting: Final[deque[tuple[Entry, float]]] = deque()  # with the time of its arrival
        self._deferred: Final[deque[Entry]] = deque()  # that the loop has passed on to a thread
        self._in_threads = 0  # batches
        self._is_starting = False
        self._timer: asyncio.TimerHandle | None = None
        connections.call_when_free(self._start_soon)

    def add(self, request: Request) -> "asyncio.Future[Answer | None]":
        """Return the future answer to a request, or a future None if the request must be served by itself.

        ``note_end`` is called once for the request: when its batch has ended, or when the request is dropped
        because its client has left.
        """
        answer: asyncio.Future[Answer | None] = self._loop.create_future()
        self._waiting.append(((request, answer), self._loop.time()))
        self._start_soon(now=not self._in_threads and not self._connections.has_any())
        return answer

    def _start_soon(self, *, now: bool = False) -> None:
        """Start a batch in the next turn of the loop, so that it has all requests that arrive in this one.

        Without a free connection, ``now`` starts it in a thread. Otherwise its requests wait for up to 50 ms.
        """
        if self._is_starting or not self._waiting:
            return
        if self._connections.has_free() or (now and self._in_threads < _MOST_BATCHES):
            self._is_starting = True
            self._loop.call_soon(self._start, now)
        elif self._timer is None:
            left = self._waiting[0][1] + _WAIT_SECONDS - self._loop.time()
            self._timer = self._loop.call_later(left if left > 0 else _WAIT_SECONDS, self._end_waiting)

    def _start(self, now: bool) -> None:  # noqa: FBT001 - the loop passes it
        """Start a batch in the loop, if a connection is still free, or in a thread."""
        self._is_starting = False
        connection = self._connections.take()
        if connection is not None:
            self._start_in_loop(connection)
        elif now or not self._connections.has_any():
            self._start_waiting_in_thread()
        self._start_soon()

    def _end_waiting(self) -> None:
        """Start a batch in a thread, if its first request has waited for long enough."""
        self._timer = None
        if self._waiting and self._loop.time() - self._waiting[0][1] >= _WAIT_SECONDS - _CLOCK_STEP_SECONDS:
            self._start_waiting_in_thread()
        self._start_soon()

    def _start_waiting_in_thread(self) -> None:
        if self._in_threads < _MOST_BATCHES:
            self._start_in_thread(self._take(_MOST_IN_THREAD))

    def _start_deferred_in_thread(self) -> None:
        if self._deferred and self._in_threads < _MOST_BATCHES:
            most = min(len(self._deferred), _MOST_IN_THREAD)
            self._start_in_thread([self._deferred.popleft() for _ in range(most)])

    def _take(self, most: int) -> list[Entry]:
        """Take the requests that have waited longest."""
        batch: list[Entry] = []
        while self._waiting and len(batch) < most:
            entry, _ = self._waiting.popleft()
            if entry[1].done():  # its client has left
                self._note_end()
            else:
                batch.append(entry)
        return batch

    def _start_in_loop(self, connection: "LoopConnection") -> None:
        batch = self._take(_MOST_IN_LOOP)
        if not batch:
            self._connections.give_back(connection)
            return
        requests = [request for request, _ in batch]
        finish = partial(self._finish_soon, connection, batch)
        self._connections.context.run(self._surfaces.start_batch, requests, connection.execute, finish)

    def _finish_soon(
        self,
        connection: "LoopConnection",
        batch: Sequence[Entry],
        answers: Sequence[Answer | Deferred | None],
    ) -> None:
        outside = self._connections.outside
        self._loop.call_soon(self._finish_in_loop, connection, batch, answers, context=outside)

    def _finish_in_loop(
        self,
        connection: "LoopConnection",
        batch: Sequence[Entry],
        answers: Sequence[Answer | Deferred | None],
    ) -> None:
        self._connections.give_back(connection)
        for entry, answer in zip(batch, answers, strict=True):
            if isinstance(answer, Deferred):
                self._deferred.append(entry)
            else:
                self._answer(entry, answer)
        self._start_deferred_in_thread()
        self._start_soon(now=not self._connections.has_any())

    def _start_in_thread(self, batch: Sequence[Entry]) -> None:
        if batch:
            self._in_threads += 1
            self._submit(self._serve, batch)

    def _serve(self, batch: Sequence[Entry]) -> None:
        """Serve a batch, in a thread."""
        try:
            answers = self._surfaces.serve_batch([request for request, _ in batch])
        except BaseException:
            _logger.exception("a batch failed, so Django serves each of its requests")
            answers = [None] * len(batch)
        self._loop.call_soon_threadsafe(self._finish_in_thread, batch, answers)

    def _finish_in_thread(self, batch: Sequence[Entry], answers: Sequence[Answer | None]) -> None:
        self._in_threads -= 1
        for entry, answer in zip(batch, answers, strict=True):
            self._answer(entry, answer)
        self._start_deferred_in_thread()
        self._start_soon(now=not self._connections.has_any())

    def _answer(self, entry: Entry, answer: Answer | None) -> None:
        self._note_end()
        _, future = entry
        if not future.done():
            future.set_result(answer)
