"""Shared reads: how fresh they are, how few they are, and what happens when one fails."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from config.shared_reads import SharedReads

WAITING = 5  # requests that arrive during a read
SECONDS = 20


class _ObservedReads(SharedReads[Any]):
    """Says when a request begins to wait for another one."""

    def __init__(self, arrived: threading.Semaphore) -> None:
        super().__init__()
        self._arrived = arrived

    def _wait_for(self, future: Future[Any]) -> None:
        self._arrived.release()
        super()._wait_for(future)


class Reads:
    """Reads of a value that changes. Each takes as long as the test likes."""

    def __init__(self) -> None:
        self.value: Any = "old"
        self.begun: list[threading.Event] = [threading.Event() for _ in range(2 + WAITING)]
        self.may_end = threading.Semaphore(0)
        self.count = 0
        self.arrived = threading.Semaphore(0)
        self.shared = _ObservedReads(self.arrived)

    def read(self) -> Any:
        self.begun[self.count].set()
        self.count += 1
        found = self.value
        assert self.may_end.acquire(timeout=SECONDS)
        if isinstance(found, BaseException):
            raise found
        return found

    def end(self, reads: int) -> None:
        self.may_end.release(reads)

    def wait_until_begun(self, number: int) -> None:
        assert self.begun[number].wait(SECONDS)

    def wait_for_arrivals(self, requests: int) -> None:
        for _ in range(requests):
            assert self.arrived.acquire(timeout=SECONDS)


@pytest.fixture
def reads() -> Reads:
    return Reads()


@pytest.fixture
def arrive(reads):
    """Let requests arrive, each in a thread of its own, and return their results."""
    with ThreadPoolExecutor(4 * WAITING) as pool:

        def send(requests: int, key: str = "key") -> list[Future[Any]]:
            return [pool.submit(reads.shared.get, key, reads.read) for _ in range(requests)]

        yield send
        reads.end(100)


def results(futures: list[Future[Any]]) -> list[Any]:
    return [future.result(SECONDS) for future in futures]


def test_one_after_the_other_each_reads(reads, arrive):
    reads.end(3)

    assert [results(arrive(1)) for _ in range(3)] == [["old"]] * 3
    assert reads.count == 3


def test_requests_that_arrive_during_a_read_share_the_next_one(reads, arrive):
    first = arrive(1)
    reads.wait_until_begun(0)
    later = arrive(WAITING)
    reads.wait_for_arrivals(WAITING)
    reads.value = "new"

    reads.end(2)

    assert results(first) == ["old"]
    assert results(later) == ["new"] * WAITING
    assert reads.count == 2


def test_a_request_that_arrives_after_a_read_has_begun_never_gets_its_result(reads, arrive):
    arrive(1)
    reads.wait_until_begun(0)
    second = arrive(1)
    reads.wait_for_arrivals(1)
    reads.end(1)
    reads.wait_until_begun(1)
    reads.value = "new"

    third = arrive(WAITING)
    reads.wait_for_arrivals(WAITING)
    reads.end(2)

    assert results(second) == ["old"]
    assert results(third) == ["new"] * WAITING


def test_requests_with_another_key_wait_for_nothing(reads, arrive):
    arrive(1)
    reads.wait_until_begun(0)

    other = arrive(1, key="other")

    reads.wait_until_begun(1)
    reads.end(2)
    assert results(other) == ["old"]


def test_a_failure_is_that_of_all_who_share_the_read(reads, arrive):
    first = arrive(1)
    reads.wait_until_begun(0)
    later = arrive(WAITING)
    reads.wait_for_arrivals(WAITING)
    failure = reads.value = OSError("away")
    reads.end(2)

    assert results(first) == ["old"]
    assert [future.exception(SECONDS) for future in later] == [failure] * WAITING

    reads.value = "back"
    reads.end(1)
    assert results(arrive(1)) == ["back"]
    assert reads.count == 3


def test_if_the_request_that_should_read_ends_another_one_reads(reads, arrive):
    class Ended(BaseException):
        """As a thread or greenlet that is killed."""

    first = arrive(1)
    reads.wait_until_begun(0)
    later = arrive(WAITING)
    reads.wait_for_arrivals(WAITING)
    ended = reads.value = Ended()
    reads.end(1)
    reads.wait_until_begun(1)
    reads.value = "new"
    reads.end(10)

    assert results(first) == ["old"]
    outcomes = [future.exception(SECONDS) or future.result(SECONDS) for future in later]
    assert outcomes.count(ended) == 1
    assert outcomes.count("new") == WAITING - 1


def test_nothing_is_kept_of_reads_that_have_ended(reads, arrive):
    first = arrive(1)
    reads.wait_until_begun(0)
    later = arrive(WAITING)
    reads.end(10)
    results(first + later)

    kept: Callable[[str], Any] = reads.shared.__getattribute__
    assert (kept("_running"), kept("_next")) == ({}, {})
