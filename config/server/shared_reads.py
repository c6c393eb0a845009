"""Reads that requests share.

A request that arrives during a read waits for the next read, which begins after the request has arrived. So
the result is as fresh as if the request had read by itself.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final, Generic, TypeVar

from config.server.wsgi_requests import Failure

T = TypeVar("T")
Key = tuple[Any, ...]
Finish = Callable[[T | Failure], None]


class SharedReads(Generic[T]):
    """Reads by key. Threads read, one read at a time for each key; everything else is done in the loop.

    ``read`` is called with the parts of the key, and ``ended`` with the number of requests after each read.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        threads: Executor,
        read: Callable[..., T],
        ended: Callable[[int], None],
    ) -> None:
        self._loop: Final = loop
        self._threads: Final = threads
        self._read: Final = read
        self._ended: Final = ended
        self._running: Final[set[Key]] = set()
        self._waiting: Final[dict[Key, list[Finish[T]]]] = {}

    def join(self, key: Key, finish: Finish[T]) -> None:
        """Have ``finish`` called with the result of the next read, or with its failure."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append(finish)
            return
        self._waiting[key] = [finish]
        if key not in self._running:
            self._running.add(key)
            self._loop.call_soon(self._start, key)  # so that requests that arrive together share the read

    def _start(self, key: Key) -> None:
        self._threads.submit(self._run_in_thread, key, self._waiting.pop(key))

    def _run_in_thread(self, key: Key, waiting: list[Finish[T]]) -> None:
        # The result has no name, because the traceback of a failure refers to this frame.
        self._loop.call_soon_threadsafe(self._finish, key, waiting, self._try_to_read(key))

    def _try_to_read(self, key: Key) -> T | Failure:
        try:
            return self._read(*key)
        except BaseException as failure:  # noqa: BLE001 - each request gets it
            return Failure.of(failure)

    def _finish(self, key: Key, waiting: list[Finish[T]], result: T | Failure) -> None:
        for finish in waiting:
            self._loop.call_soon(finish, result)  # one that fails does not stop the others
        self._ended(len(waiting))
        waiting.clear()  # the traceback of a failure refers to this list, and so would to the connections
        if key in self._waiting:
            self._start(key)
        else:
            self._running.discard(key)
