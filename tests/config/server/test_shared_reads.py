"""Shared reads: how fresh they are, how few they are, and what happens when one fails."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from config.server.shared_reads import SharedReads
from config.server.wsgi_requests import Failure

WAITING = 5  # requests that arrive during a read
SECONDS = 20


class Reads:
    """Reads of a value that changes. Each takes as long as the test likes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: ThreadPoolExecutor) -> None:
        self.value: Any = "old"
        self.keys: list[str] = []  # of the reads that have begun
        self.ended: list[int] = []  # how many requests each read was for
        self.may_end = threading.Semaphore(0)
        self.shared = SharedReads[Any](loop, threads, self.read, self.ended.append)

    def read(self, key: str) -> Any:
        found = self.value
        self.keys.append(key)
        assert self.may_end.acquire(timeout=SECONDS)
        if isinstance(found, BaseException):
            raise found
        return found

    def arrive(self, requests: int, key: str = "key") -> list[Any]:
        """Let requests arrive together, and return the list that gets their results."""
        results: list[Any] = []
        for _ in range(requests):
            self.shared.join((key,), results.append)
        return results

    async def until_begun(self, reads: int) -> None:
        await self.until(lambda: len(self.keys) == reads)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():  # noqa: ASYNC110 - threads make it hold
                await asyncio.sleep(0.001)

    def end(self, reads: int) -> None:
        self.may_end.release(reads)


@pytest.fixture
def run():
    """Run a test in a loop whose reads are those of ``Reads``."""

    def run(test: Callable[[Reads], Awaitable[None]]) -> None:
        async def main() -> None:
            with ThreadPoolExecutor(WAITING) as threads:
                reads = Reads(asyncio.get_running_loop(), threads)
                try:
                    await test(reads)
                finally:
                    reads.end(100)

        asyncio.run(main())

    return run


def test_one_after_the_other_each_reads(run):
    async def test(reads: Reads) -> None:
        reads.end(3)
        for value in ("first", "second", "third"):
            reads.value = value
            results = reads.arrive(1)
            await reads.until(lambda results=results: bool(results))
            assert results == [value]
        assert len(reads.keys) == 3

    run(test)


def test_requests_that_arrive_together_share_a_read(run):
    async def test(reads: Reads) -> None:
        results = reads.arrive(WAITING)
        reads.end(1)
        await reads.until(lambda: len(results) == WAITING)
        assert reads.ended == [WAITING]

    run(test)


def test_requests_that_arrive_during_a_read_share_the_next_one(run):
    async def test(reads: Reads) -> None:
        first = reads.arrive(1)
        await reads.until_begun(1)
        later = reads.arrive(WAITING)
        reads.value = "new"
        reads.end(2)
        await reads.until(lambda: len(later) == WAITING)
        assert (first, later) == (["old"], ["new"] * WAITING)
        assert reads.ended == [1, WAITING]

    run(test)


def test_a_request_that_arrives_after_a_read_has_begun_never_gets_its_result(run):
    async def test(reads: Reads) -> None:
        reads.arrive(1)
        await reads.until_begun(1)
        second = reads.arrive(1)
        reads.end(1)
        await reads.until_begun(2)
        reads.value = "new"
        third = reads.arrive(WAITING)
        reads.end(2)
        await reads.until(lambda: len(third) == WAITING)
        assert (second, third) == (["old"], ["new"] * WAITING)

    run(test)


def test_requests_with_another_key_wait_for_nothing(run):
    async def test(reads: Reads) -> None:
        reads.arrive(1)
        await reads.until_begun(1)
        other = reads.arrive(1, key="other")
        await reads.until_begun(2)
        reads.end(2)
        await reads.until(lambda: bool(other))
        assert reads.keys == ["key", "other"]

    run(test)


@pytest.mark.parametrize("failure", [OSError("away"), KeyboardInterrupt()])
def test_a_failure_is_that_of_all_who_share_the_read(run, failure):
    async def test(reads: Reads) -> None:
        first = reads.arrive(1)
        await reads.until_begun(1)
        reads.value = failure
        later = reads.arrive(WAITING)
        reads.end(2)
        await reads.until(lambda: len(later) == WAITING)
        assert (first, later) == (["old"], [Failure(failure, failure.__traceback__)] * WAITING)

        reads.value = "back"
        reads.end(1)
        results = reads.arrive(1)
        await reads.until(lambda: bool(results))
        assert results == ["back"]

    run(test)


def test_a_request_that_cannot_be_finished_stops_no_other(run):
    async def test(reads: Reads) -> None:
        def fail(_: object) -> None:
            raise ZeroDivisionError

        failures: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: failures.append(told["exception"]))
        reads.shared.join(("key",), fail)
        results = reads.arrive(1)
        reads.end(1)
        await reads.until(lambda: bool(results and failures))
        assert results == ["old"]
        assert isinstance(failures[0], ZeroDivisionError)

    run(test)


def test_nothing_is_kept_of_reads_that_have_ended(run):
    async def test(reads: Reads) -> None:
        reads.arrive(1)
        await reads.until_begun(1)
        later = reads.arrive(WAITING)
        reads.end(2)
        await reads.until(lambda: len(later) == WAITING)
        kept = vars(reads.shared)
        assert (kept["_running"], kept["_waiting"]) == (set(), {})

    run(test)
