"""When requests wait for each other, and when they no longer do."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar, copy_context
from types import SimpleNamespace
from typing import Any

import pytest

from config.server import batches as module
from config.server.batches import Batches, Deferred
from identity.http.answers import Answer

NO_CONNECTIONS = SimpleNamespace(
    has_free=lambda: False,
    has_any=lambda: False,
    take=lambda: None,
    call_when_free=lambda _: None,
)


class Threads:
    """Threads that begin a batch at once, and end it when the test says so.

    If the loop has connections, ``start_batch`` serves a batch in the loop.
    """

    def __init__(
        self, connections: Any = NO_CONNECTIONS, start_batch: Callable[..., None] | None = None
    ) -> None:
        surfaces: Any = SimpleNamespace(serve_batch=self._serve, start_batch=start_batch)
        loop = asyncio.get_running_loop()
        self.batches = Batches(loop, self._submit, surfaces, connections, self._note_end)
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
    futures = await threads.add(*range(2 + 2 * module._MOST_IN_THREAD))

    sizes = []
    for _ in range(4):
        sizes.append(len(threads.begun[-1]))
        await threads.end()

    assert sizes == [1, module._MOST_IN_THREAD, module._MOST_IN_THREAD, 1]
    assert numbers(futures) == list(range(2 + 2 * module._MOST_IN_THREAD))


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
    await threads.add(*range(2 + 2 * module._MOST_IN_THREAD))
    await asyncio.sleep(module._WAIT_SECONDS * 6)

    assert [len(batch) for batch in threads.begun] == [1, module._MOST_IN_THREAD, module._MOST_IN_THREAD, 1]


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
def test_a_failure_ends_a_batch_and_is_logged(failure, caplog):
    @with_threads
    async def run(threads: Threads) -> None:
        threads.failure = failure
        first = await threads.add(1, 2)

        await threads.end()
        await threads.end()

        assert (numbers(first), threads.ended) == ([None, None], 2)
        assert {record.exc_info[1] for record in caplog.records if record.exc_info} == {failure}
        threads.failure = None
        second = await threads.add(3)
        await threads.end()
        assert numbers(second) == [3]

    run()


class LoopServing:
    """Batches that are served in the loop, on connections of which some are free."""

    def __init__(self, free: int) -> None:
        self._number = self._free = free
        self._callbacks: list[Callable[[], None]] = []
        self.threads = Threads(connections=self, start_batch=self._begin)
        self.context = self.outside = copy_context()
        self.begun: list[list[int]] = []
        self._finishes: list[Callable[[Sequence[Any]], None]] = []

    def has_any(self) -> bool:
        return self._number > 0

    def has_free(self) -> bool:
        return self._free > 0

    def call_when_free(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def take(self) -> Any:
        if not self._free:
            return None
        self._free -= 1
        return SimpleNamespace(execute=None)

    def give_back(self, connection: object) -> None:
        self._free += 1
        for callback in self._callbacks:
            callback()

    def _begin(self, requests: Sequence[Any], execute: None, finish: Callable[[Sequence[Any]], None]) -> None:
        self.begun.append([number for number, _ in requests])
        self._finishes.append(finish)

    async def end(self, place: int = 0, deferred: Sequence[int] = ()) -> None:
        """End a batch, in which some requests have to be served in a thread."""
        batch = self.begun.pop(place)
        answers = [
            Deferred.TO_THREAD if number in deferred else Answer(str(number).encode(), {}) for number in batch
        ]
        self._finishes.pop(place)(answers)
        for _ in range(2):
            await asyncio.sleep(0)


def with_connections(free: int) -> Callable[[Callable[..., Awaitable[None]]], Callable[[], None]]:
    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[[], None]:
        def run() -> None:
            async def main() -> None:
                serving = LoopServing(free)
                await test(serving, serving.threads)

            asyncio.run(main())

        run.__name__ = test.__name__
        return run

    return decorate


@with_connections(2)
async def test_the_loop_serves_as_many_batches_as_it_has_connections(loop, threads):
    futures = await threads.add(1, 2, 3, 4)
    assert (loop.begun, threads.begun) == ([[1], [2]], [])

    await loop.end()

    assert loop.begun == [[2], [3, 4]]
    await loop.end()
    await loop.end()
    assert (numbers(futures), threads.ended, threads.begun) == ([1, 2, 3, 4], 4, [])


@with_connections(1)
async def test_a_batch_in_the_loop_has_a_limit(loop, threads):
    count = 2 + module._MOST_IN_LOOP
    futures = await threads.add(*range(count))

    sizes = []
    for _ in range(3):
        sizes.append(len(loop.begun[-1]))
        await loop.end()

    assert sizes == [1, module._MOST_IN_LOOP, 1]
    assert numbers(futures) == list(range(count))


@with_connections(1)
async def test_what_the_loop_cannot_do_without_waiting_a_thread_does(loop, threads):
    futures = [threads.batches.add((number, None)) for number in range(4)]
    await asyncio.sleep(0)

    await loop.end(deferred=(1, 3))

    assert threads.begun == [[1, 3]]
    assert [future.done() for future in futures] == [True, False, True, False]
    await threads.end()
    assert (numbers(futures), threads.ended) == ([0, 1, 2, 3], 4)


@with_connections(1)
async def test_a_batch_that_takes_long_in_the_loop_is_waited_for_only_for_a_while(loop, threads):
    await threads.add(1, 2)
    await asyncio.sleep(module._WAIT_SECONDS * 2)

    assert (loop.begun, threads.begun) == ([[1]], [[2]])


@with_connections(0)
async def test_without_a_connection_a_thread_serves_at_once(loop, threads):
    await threads.add(1)

    assert (loop.begun, threads.begun) == ([], [[1]])


@with_connections(1)
async def test_a_client_that_left_takes_no_connection(loop, threads):
    futures = [threads.batches.add((1, None))]
    futures[0].cancel()
    await asyncio.sleep(0)

    assert (loop.begun, loop.has_free(), threads.ended) == ([], True, 1)


@with_connections(1)
async def test_a_connection_that_others_use_is_waited_for(loop, threads):
    loop.take()
    futures = await threads.add(1)
    assert (loop.begun, threads.begun) == ([], [])

    loop.give_back(None)
    await asyncio.sleep(0)

    assert loop.begun == [[1]]
    await loop.end()
    assert numbers(futures) == [1]


@with_connections(1)
async def test_a_connection_that_others_use_is_waited_for_only_for_a_while(loop, threads):
    loop.take()
    await threads.add(1)
    await asyncio.sleep(module._WAIT_SECONDS * 2)

    assert (loop.begun, threads.begun) == ([], [[1]])


@with_connections(2)
async def test_busy_threads_do_not_keep_the_loop_from_serving(loop, threads):
    for number in range(2 * module._MOST_BATCHES):
        await threads.add(number)
        await loop.end(deferred=[number])
    assert threads.begun == [[number] for number in range(module._MOST_BATCHES)]

    futures = await threads.add(99)
    await loop.end()

    assert numbers(futures) == [99]
    await threads.end()
    assert threads.begun[module._MOST_BATCHES :] == [
        list(range(module._MOST_BATCHES, 2 * module._MOST_BATCHES))
    ]


@with_connections(1)
async def test_what_the_loop_serves_is_finished_outside_of_its_context(loop, threads):
    serving = ContextVar("serving", default=False)
    loop.context = copy_context()
    loop.context.run(serving.set, True)
    found = []
    threads.batches._note_end = lambda: found.append(serving.get())
    await threads.add(1)

    await loop.end()

    assert found == [False]


@with_connections(1)
async def test_those_that_wait_for_a_connection_wait_on_when_a_thread_has_ended(loop, threads):
    await threads.add(1)
    await loop.end(deferred=[1])
    futures = await threads.add(2, 3)
    assert (loop.begun, threads.begun) == ([[2]], [[1]])

    await threads.end()

    assert (loop.begun, threads.begun) == ([[2]], [[1]])
    await loop.end()
    await loop.end()
    assert numbers(futures) == [2, 3]
