"""Requests that arrive together are served together by one thread.

While a thread serves requests of a route, further requests of this route wait until the thread has finished,
or for 50 ms. Then the next batch begins with up to 32 of them. A route has at most four batches at once. So
the busier a worker is, the fewer hand-overs, round trips and commits a request takes. A request that arrives
alone is served at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from identity.http.answers import Answer

_MOST_REQUESTS: Final = 32  # in a batch
_MOST_BATCHES: Final = 4  # of a route at once
_WAIT_SECONDS: Final = 0.05  # for which requests wait for a running batch

Request = tuple[Any, Any]  # what ``config.server.surfaces.serve_together`` gets
Serve = Callable[[Sequence[Request]], list[Answer | None]]


class Batches:
    """The batches of one route."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        submit: Callable[..., Any],
        serve_together: Serve,
        note_end: Callable[[], None],
    ) -> None:
        self._loop: Final = loop
        self._submit: Final = submit
        self._serve_together: Final = serve_together
        self._note_end: Final = note_end
        self._waiting: Final[deque[tuple[Request, asyncio.Future[Answer | None]]]] = deque()
        self._running = 0
        self._is_starting = False
        self._timer: asyncio.TimerHandle | None = None

    def add(self, request: Request) -> "asyncio.Future[Answer | None]":
        """Return the future answer to a request, or a future None if the request must be served by itself.

        ``note_end`` is called once for the request: when its batch has ended, or when the request is dropped
        because its client has left.
        """
        answer: asyncio.Future[Answer | None] = self._loop.create_future()
        self._waiting.append((request, answer))
        if self._is_starting:
            return answer
        if not self._running:
            self._is_starting = True
            self._loop.call_soon(self._start)  # with those that arrive at the same moment
        elif self._timer is None:
            self._timer = self._loop.call_later(_WAIT_SECONDS, self._end_waiting)
        return answer

    def _end_waiting(self) -> None:
        self._timer = None
        if self._waiting and self._running < _MOST_BATCHES:
            self._start()

    def _start(self) -> None:
        """Start a batch with the requests that have waited longest."""
        self._is_starting = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch: list[tuple[Request, asyncio.Future[Answer | None]]] = []
        while self._waiting and len(batch) < _MOST_REQUESTS:
            request, answer = self._waiting.popleft()
            if answer.done():  # its client has left
                self._note_end()
            else:
                batch.append((request, answer))
        if batch:
            self._running += 1
            self._submit(self._serve, batch)
        if self._waiting:
            self._timer = self._loop.call_later(_WAIT_SECONDS, self._end_waiting)

    def _serve(self, batch: Sequence[tuple[Request, "asyncio.Future[Answer | None]"]]) -> None:
        """Serve a batch, in a thread."""
        try:
            answers = self._serve_together([request for request, _ in batch])
        except BaseException:  # noqa: BLE001 - each request is then served by itself
            answers = [None] * len(batch)
        self._loop.call_soon_threadsafe(self._end, batch, answers)

    def _end(
        self, batch: Sequence[tuple[Request, "asyncio.Future[Answer | None]"]], answers: list[Answer | None]
    ) -> None:
        self._running -= 1
        for (_, future), answer in zip(batch, answers, strict=True):
            self._note_end()
            if not future.done():
                future.set_result(answer)
        if self._waiting and self._running < _MOST_BATCHES:
            self._start()
