"""When requests wait for each other, and when they no longer do."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from config.server import batches as module
from config.server.batches import Batches
from identity.http.answers import Answer


class Threads:
    """Threads that begin a batch at once, and end it when the test says so."""

    def __init__(self) -> None:
        self.batches = Batches(asyncio.get_running_loop(), self._submit, self._serve, self._note_end)
        self.begun: list[list[Any]] = []
        self.ended = 0
        self.failure: BaseException | None = None
        self._running: list[Callable[[], None]] = []

    def _submit(self, serve: Callable[[Any], None], batch: Sequence[Any]) -> None:
        self.begun.append([request for (request, _), _ in batch])
        self._running.append(lambda: serve(batch))

    def _serve(self, requests: Sequence[Any]) -> list[Answer | None]:
        if self.failure is not None:
            raise self.failure
        return [Answer(str(number).encode(), {}) for number, _ in requests]

    def _note_end(self) -> None:
        self.ended += 1

    async def add(self, *numbers: int) -> list[asyncio.Future[Answer | None]]:
        """Add requests that arrive one after another."""
        futures = []
        for number in numbers:
            futures.append(self.batches.add((number, None)))
            await asyncio.sleep(0)
        return futures

    async def end(self, place: int = 0) -> None:
        """End a batch, and let the loop hear of it."""
        self._running.pop(place)()
        for _ in range(3):
            await asyncio.sleep(0)


def with_threads(test: Callable[..., Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        async def main() -> None:
            await test(Threads())

        asyncio.run(main())

    run.__name__ = test.__name__
    return run


def numbers(futures: Sequence[Any]) -> list[Any]:
    answers = [future.result() for future in futures]
    return [int(answer.body) if answer else None for answer in answers]


@with_threads
async def test_a_request_that_arrives_alone_is_served_at_once(threads):
    first = await threads.add(1)

    assert threads.begun == [[1]]
    await threads.end()
    assert numbers(first) == [1]
    second = await threads.add(2)
    assert threads.begun == [[1], [2]]
    await threads.end()
    assert (numbers(second), threads.ended) == ([2], 2)


@with_threads
async def test_those_that_arrive_at_the_same_moment_are_served_together(threads):
    futures = [threads.batches.add((number, None)) for number in range(3)]
    await asyncio.sleep(0)

    assert threads.begun == [[0, 1, 2]]
    await threads.end()
    assert numbers(futures) == [0, 1, 2]
    await threads.add(3)
    assert threads.begun[1:] == [[3]]


@with_threads
async def test_those_that_arrive_meanwhile_are_served_together_next(threads):
    futures = await threads.add(1, 2, 3)

    assert threads.begun == [[1]]
    await threads.end()
    assert threads.begun == [[1], [2, 3]]
    await threads.end()
    assert numbers(futures) == [1, 2, 3]


@with_threads
async def test_a_batch_has_a_limit(threads):
    futures = await threads.add(*range(2 + 2 * module._MOST_REQUESTS))

    sizes = []
    for _ in range(4):
        sizes.append(len(threads.begun[-1]))
        await threads.end()

    assert sizes == [1, module._MOST_REQUESTS, module._MOST_REQUESTS, 1]
    assert numbers(futures) == list(range(2 + 2 * module._MOST_REQUESTS))


@with_threads
async def test_a_batch_that_takes_long_is_waited_for_only_for_a_while(threads):
    await threads.add(1)
    await asyncio.sleep(module._WAIT_SECONDS * 2)
    second = await threads.add(2, 3)
    await asyncio.sleep(module._WAIT_SECONDS * 2)

    assert threads.begun == [[1], [2, 3]]
    await threads.end(1)
    assert numbers(second) == [2, 3]


@with_threads
async def test_only_some_batches_take_long_at_once(threads):
    for number in range(module._MOST_BATCHES + 2):
        await threads.add(number)
        await asyncio.sleep(module._WAIT_SECONDS * 1.5)
    assert len(threads.begun) == module._MOST_BATCHES

    await threads.end()

    assert threads.begun[module._MOST_BATCHES :] == [[module._MOST_BATCHES, module._MOST_BATCHES + 1]]


@with_threads
async def test_more_than_fit_into_a_batch_are_no_longer_waited_for_either(threads):
    await threads.add(*range(2 + 2 * module._MOST_REQUESTS))
    await asyncio.sleep(module._WAIT_SECONDS * 6)

    assert [len(batch) for batch in threads.begun] == [1, module._MOST_REQUESTS, module._MOST_REQUESTS, 1]


@with_threads
async def test_a_client_that_has_left_is_not_served(threads):
    futures = await threads.add(1, 2, 3)
    futures[1].cancel()

    await threads.end()

    assert (threads.begun, threads.ended) == ([[1], [3]], 2)
    await threads.end()
    assert (numbers([futures[0], futures[2]]), threads.ended) == ([1, 3], 3)


@with_threads
async def test_a_client_can_leave_while_it_is_served(threads):
    futures = await threads.add(1)
    futures[0].cancel()
    assert threads.ended == 0

    await threads.end()

    assert threads.ended == 1
    await threads.add(2)
    assert threads.begun == [[1], [2]]


@pytest.mark.parametrize("failure", [ValueError(), SystemExit(), KeyboardInterrupt()], ids=repr)
def test_a_failure_ends_a_batch(failure):
    @with_threads
    async def run(threads: Threads) -> None:
        threads.failure = failure
        first = await threads.add(1, 2)

        await threads.end()
        await threads.end()

        assert (numbers(first), threads.ended) == ([None, None], 2)
        threads.failure = None
        second = await threads.add(3)
        await threads.end()
        assert numbers(second) == [3]

    run()
