"""The connections to the database that a loop keeps."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.db import OperationalError

from config.server import loop_connections as module
from config.server.loop_connections import LoopConnections
from database.batching import IN_LOOP


class Made:
    """A connection that works until it is broken."""

    def __init__(self, *, is_broken: bool = False) -> None:
        self.is_broken = is_broken
        self.is_attached = False
        self.is_closed = False
        self.checks = 0

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        assert loop is asyncio.get_running_loop()
        self.is_attached = True

    def is_usable(self) -> bool:
        return not (self.is_broken or self.is_closed)

    def check(self) -> None:
        self.checks += 1

    def close(self) -> None:
        self.is_closed = True


class Connecting:
    """Connects at once, unless the database is unavailable."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[Made] = []
        self.is_available = True
        self.is_standby = False
        self.attempts = 0
        monkeypatch.setattr(module, "_is_supported", lambda: True)
        monkeypatch.setattr(module, "_prepare_context", lambda: IN_LOOP.set(True))
        monkeypatch.setattr("database.postgresql.loop_connection.LoopConnection", self._connect)

    def _connect(self) -> Made:
        self.attempts += 1
        if not self.is_available:
            raise OperationalError("too many clients already")
        self.made.append(Made(is_broken=self.is_standby))
        return self.made[-1]


@pytest.fixture
def connecting(monkeypatch: pytest.MonkeyPatch) -> Connecting:
    return Connecting(monkeypatch)


def in_loop(work: Callable[[Any], Awaitable[None]]) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        await work(LoopConnections(loop, lambda connect: connect()))

    asyncio.run(main())


async def take_all(connections: LoopConnections) -> list[Any]:
    """Take connections until there are none, and give the loop time to add new ones."""
    taken = []
    for _ in range(6):
        connection = connections.take()
        if connection is not None:
            taken.append(connection)
        await asyncio.sleep(0)
    return taken


def test_there_are_none_until_they_are_needed_and_then_two(connecting):
    async def work(connections: LoopConnections) -> None:
        await asyncio.sleep(0)
        assert (connections.has_free(), connecting.attempts) == (False, 0)

        assert connections.take() is None
        await asyncio.sleep(0)
        assert connections.has_free()

        assert await take_all(connections) == connecting.made
        assert len(connecting.made) == 2

    in_loop(work)


def test_one_that_was_given_back_is_taken_again(connecting):
    async def work(connections: LoopConnections) -> None:
        first, second = await take_all(connections)

        connections.give_back(first)

        assert connections.take() is first
        assert connections.take() is None
        connections.give_back(second)
        assert connections.has_free()

    in_loop(work)


@pytest.mark.parametrize("is_free", [True, False])
def test_a_broken_one_is_closed_and_replaced(connecting, is_free):
    async def work(connections: LoopConnections) -> None:
        first, second = await take_all(connections)
        connections.give_back(second)
        if is_free:
            connections.give_back(first)
        first.is_broken = True
        if not is_free:
            connections.give_back(first)

        taken = await take_all(connections)

        assert first.is_closed
        assert set(taken) == {second, connecting.made[2]}

    in_loop(work)


@pytest.mark.parametrize("state", [{"is_available": False}, {"is_standby": True}], ids=str)
def test_while_the_primary_is_unavailable_they_are_opened_once_a_second(connecting, monkeypatch, state):
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.2)
    vars(connecting).update(state)

    async def work(connections: LoopConnections) -> None:
        assert await take_all(connections) == []
        assert await take_all(connections) == []
        assert connecting.attempts == 1
        assert not connections.has_any()
        assert all(made.is_closed for made in connecting.made)
        connecting.is_available, connecting.is_standby = True, False
        await asyncio.sleep(0.3)

        assert len(await take_all(connections)) == 2

    in_loop(work)


def test_an_outage_is_logged_once(connecting, monkeypatch, caplog):
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
    connecting.is_available = False

    async def work(connections: LoopConnections) -> None:
        for is_available in (False, True, False):
            connecting.is_available = is_available
            for connection in await take_all(connections):
                connection.is_broken = True
                connections.give_back(connection)

    in_loop(work)

    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "too many clients already"
    ] * 2


def test_a_lost_one_is_replaced_while_the_other_one_is_busy(connecting):
    async def work(connections: LoopConnections) -> None:
        busy, lost = await take_all(connections)
        lost.is_broken = True
        connections.give_back(lost)

        connections.check()
        await asyncio.sleep(0)

        assert connections.take() is connecting.made[2]
        assert not busy.is_closed

    in_loop(work)


def test_none_is_opened_after_the_end(connecting):
    async def work(connections: LoopConnections) -> None:
        await take_all(connections)
        connections.close()

        connections.check()

        assert connecting.attempts == 2
        assert connections.take() is None
        assert connecting.attempts == 2

    in_loop(work)


def test_one_that_a_thread_was_opening_at_the_end_is_closed(connecting):
    async def work(connections: LoopConnections) -> None:
        connections.take()  # connects, and adds the connection in the next turn of the loop

        connections.close()
        await asyncio.sleep(0)

        [made] = connecting.made
        assert made.is_closed
        assert not made.is_attached
        assert not connections.has_any()

    in_loop(work)


def test_all_are_checked(connecting):
    async def work(connections: LoopConnections) -> None:
        taken = await take_all(connections)
        connections.give_back(taken[0])

        connections.check()

        assert [each.checks for each in taken] == [1, 1]

    in_loop(work)


def test_without_support_there_are_never_any(connecting, monkeypatch):
    monkeypatch.setattr(module, "_is_supported", lambda: False)

    async def work(connections: LoopConnections) -> None:
        assert await take_all(connections) == []
        assert connecting.attempts == 0

    in_loop(work)


def test_all_are_closed_at_the_end(connecting):
    async def work(connections: LoopConnections) -> None:
        taken = await take_all(connections)
        connections.give_back(taken[0])

        connections.close()

        assert [each.is_closed for each in taken] == [True, True]

    in_loop(work)


def test_work_in_their_context_knows_that_it_must_not_wait(connecting):
    async def work(connections: LoopConnections) -> None:
        assert connections.context.run(IN_LOOP.get)
        assert not IN_LOOP.get()

    in_loop(work)


def test_those_who_wait_hear_of_each_free_one_in_turns(connecting):
    async def work(connections: LoopConnections) -> None:
        heard: list[str] = []
        connections.call_when_free(lambda: heard.append("first"))
        connections.call_when_free(lambda: heard.append("second"))

        taken = await take_all(connections)
        connections.give_back(taken[0])

        assert sorted(heard) == ["first"] * 3 + ["second"] * 3
        assert {tuple(heard[place : place + 2]) for place in (0, 2, 4)} == {
            ("first", "second"),
            ("second", "first"),
        }

    in_loop(work)
