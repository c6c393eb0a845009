"""Reads that requests share.

A request that arrives during a read waits for the next read, which begins after the request has arrived. So
its result is as fresh as that of a read of its own.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from typing import Final, Generic, TypeVar

T = TypeVar("T")


class _Ended(Exception):
    """The request that was to read was ended first, so another one must read."""


class SharedReads(Generic[T]):
    """The results of reads, each shared by the requests that arrived before it began."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._running: Final[dict[Hashable, Future[T]]] = {}
        self._next: Final[dict[Hashable, Future[T]]] = {}

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what ``read`` returns, called by this request or by another one with the same key.

        Raises:
            Exception: what ``read`` raised, for all requests that share it.

        """
        while True:
            with self._lock:
                shared = self._next.get(key)
                running = self._running.get(key)
                if shared is None:
                    mine: Future[T] = Future()
                    (self._next if running else self._running)[key] = mine
            if shared is None:
                return self._read(key, read, mine, running)
            self._wait_for(shared)
            try:
                return shared.result()
            except _Ended:
                continue

    def _read(self, key: Hashable, read: Callable[[], T], mine: Future[T], running: Future[T] | None) -> T:
        """Read as soon as the running read has ended, for all requests that wait for it."""
        try:
            if running is not None:
                self._wait_for(running)
                with self._lock:
                    self._running[key] = self._next.pop(key)
            result = read()
        except Exception as failure:
            self._forget(key, mine)
            mine.set_exception(failure)
            raise
        except BaseException:
            self._forget(key, mine)
            mine.set_exception(_Ended())
            raise
        self._forget(key, mine)
        mine.set_result(result)
        return result

    def _wait_for(self, future: Future[T]) -> None:
        """Wait until another request has read. Nothing is locked meanwhile."""
        wait([future])

    def _forget(self, key: Hashable, mine: Future[T]) -> None:
        with self._lock:
            for reads in (self._running, self._next):
                if reads.get(key) is mine:
                    del reads[key]
