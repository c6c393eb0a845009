"""Statements that an event loop executes on a connection of its own, without waiting for them."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import psycopg
import pytest
import uvloop
from django.core.exceptions import SynchronousOnlyOperation
from django.db import OperationalError, connection

from database.batching import Call, Outcome, RolledBack

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has pipelines")

INSERT = "INSERT INTO loop_rows VALUES (%s)"
SELECT = "SELECT number, number * 2 FROM loop_rows WHERE number > %s ORDER BY 1"
DIVIDE = "SELECT 1 / %s::int"
SLEEP = "SELECT pg_sleep(%s)"
COLUMNS = "SELECT * FROM loop_rows WHERE number > %s"


@pytest.fixture(autouse=True)
def table(database: None) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE loop_rows (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE loop_rows")


def call(sql: str, *parameters: Any) -> Call:
    return Call(sql, parameters, lambda: pytest.fail("executed alone"))


def rows() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM loop_rows ORDER BY 1")
        return [number for (number,) in cursor.fetchall()]


class Loop:
    """A connection that is attached to the running loop."""

    def __init__(self, made: Any) -> None:
        self.made = made

    async def execute(self, *calls: Call) -> Sequence[Outcome | Exception]:
        outcomes: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.made.execute(calls, outcomes.set_result)
        return await asyncio.wait_for(outcomes, 10)

    async def kinds(self, *calls: Call) -> list[type]:
        return [type(outcome) for outcome in await self.execute(*calls)]

    @property
    def pid(self) -> int:
        return self.made._connection.info.backend_pid  # type: ignore[no-any-return]


def in_loop(work: Callable[[Loop], Awaitable[None]]) -> None:
    """Do something with a connection, in the loop of production."""
    from database.postgresql.loop_connection import LoopConnection  # noqa: PLC0415 - only for PostgreSQL

    async def main() -> None:
        made = await asyncio.to_thread(LoopConnection)
        made.attach(asyncio.get_running_loop())
        try:
            await work(Loop(made))
        finally:
            made.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


def terminate(pid: int) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute("SELECT pg_terminate_backend(%s)", [pid])


def keep_busy(seconds: float) -> None:
    time.sleep(seconds)


def test_outcomes_are_in_the_order_of_the_calls():
    async def work(loop: Loop) -> None:
        for first in (1, 11):  # the first time, the statements are prepared
            assert await loop.execute(
                call(INSERT, first), call(SELECT, first - 1), call(INSERT, first + 1), call(SELECT, first - 1)
            ) == [
                Outcome([], 1),
                Outcome([(first, 2 * first)], 1),
                Outcome([], 1),
                Outcome([(first, 2 * first), (first + 1, 2 * first + 2)], 2),
            ]

    in_loop(work)

    assert rows() == [1, 2, 11, 12]


def test_the_loop_does_other_things_meanwhile():
    async def work(loop: Loop) -> None:
        slow = asyncio.ensure_future(loop.execute(call(SLEEP, 0.5)))
        began = time.monotonic()
        await asyncio.sleep(0.05)

        assert time.monotonic() - began < 0.4
        assert not slow.done()
        await slow

    in_loop(work)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("is_prepared", [False, True])
def test_one_that_fails_undoes_all(place, is_prepared):
    async def work(loop: Loop) -> None:
        if is_prepared:
            await loop.execute(call(DIVIDE, 1), call(SELECT, 0))
        calls = [call(INSERT, 1), call(SELECT, 0)]
        calls.insert(place, call(DIVIDE, 0))

        assert await loop.kinds(*calls) == [RolledBack] * 3
        assert loop.made.is_usable()
        assert await loop.execute(call(INSERT, 7), call(SELECT, 0)) == [Outcome([], 1), Outcome([(7, 14)], 1)]

    in_loop(work)

    assert rows() == [7]


def test_a_commit_that_fails_undoes_all():
    async def work(loop: Loop) -> None:
        assert await loop.kinds(call(INSERT, 1), call(INSERT, 1)) == [RolledBack] * 2
        assert await loop.kinds(call(INSERT, 2)) == [Outcome]

    in_loop(work)

    assert rows() == [2]


def test_one_that_waits_too_long_is_not_executed_again():
    async def work(loop: Loop) -> None:
        await loop.execute(call("SELECT set_config('statement_timeout', %s, false)", "300"))
        late = call(SLEEP, 20)

        assert await loop.kinds(call(INSERT, 1), late, call(INSERT, 2), late) == [
            RolledBack,
            OperationalError,
            RolledBack,
            OperationalError,
        ]

    in_loop(work)


def test_one_that_cannot_be_sent_undoes_all():
    async def work(loop: Loop) -> None:
        assert await loop.kinds(call(INSERT, 1), call("SELECT %s::text", "\0")) == [RolledBack] * 2
        assert await loop.kinds(call(INSERT, 2)) == [Outcome]

    in_loop(work)

    assert rows() == [2]


def test_a_failure_while_sending_undoes_all_and_is_logged_without_parameters(caplog, monkeypatch):
    async def work(loop: Loop) -> None:
        error = RuntimeError("broken on purpose")
        monkeypatch.setattr(loop.made, "_send", mock.Mock(side_effect=error))

        assert await loop.kinds(call(INSERT, 54321), call(SELECT, 0)) == [RolledBack] * 2
        assert not loop.made.is_usable()
        assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [error]
        assert "54321" not in caplog.text

    in_loop(work)

    assert rows() == []


def test_rows_that_cannot_be_read_are_the_error_of_one():
    async def work(loop: Loop) -> None:
        written, unread = await loop.execute(
            call(INSERT, 1), call("SELECT %s::text::timestamptz", "infinity")
        )

        assert written == Outcome([], 1)
        assert isinstance(unread, Exception)
        assert not isinstance(unread, RolledBack)

    in_loop(work)

    assert rows() == [1]


@pytest.mark.parametrize("number", [2, 5000])
def test_a_server_that_ends_the_session_fails_all(number):
    async def work(loop: Loop) -> None:
        calls = [call(SLEEP, 5), *(call(INSERT, each) for each in range(number))]
        running = asyncio.ensure_future(loop.kinds(*calls))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(terminate, loop.pid)

        assert await running == [OperationalError] * (number + 1)
        assert not loop.made.is_usable()

    in_loop(work)

    assert rows() == []


@pytest.mark.parametrize("number", [2, 200])
def test_a_session_that_ends_while_the_loop_is_busy_fails_all(number):
    """Its end and the error that follows arrive at the same moment. The loop then reports only the error."""

    async def work(loop: Loop) -> None:
        calls = [call(SLEEP, 5), *(call(INSERT, each) for each in range(number))]
        running = asyncio.ensure_future(loop.kinds(*calls))
        await asyncio.sleep(0.3)
        terminate(loop.pid)
        keep_busy(0.5)
        for _ in range(20):
            await asyncio.sleep(0.05)
            loop.made.check()

        assert running.done()
        assert await running == [OperationalError] * (number + 1)

    in_loop(work)


def test_one_that_no_loop_has_is_closed():
    from database.postgresql.loop_connection import LoopConnection  # noqa: PLC0415 - as above

    made = LoopConnection()

    made.close()

    assert not made.is_usable()


def test_a_session_that_was_ended_meanwhile_is_not_used():
    async def work(loop: Loop) -> None:
        await loop.execute(call(SELECT, 0))
        assert loop.made.is_usable()
        terminate(loop.pid)
        keep_busy(0.3)

        assert not loop.made.is_usable()

    in_loop(work)


def test_a_batch_without_an_answer_is_given_up(monkeypatch):
    monkeypatch.setattr("database.postgresql.loop_connection._MOST_SECONDS", 0.5)

    async def work(loop: Loop) -> None:
        running = asyncio.ensure_future(loop.kinds(call(SLEEP, 20), call(INSERT, 1)))
        await asyncio.sleep(0.2)
        loop.made.check()
        await asyncio.sleep(0)
        assert not running.done()
        await asyncio.sleep(0.4)
        loop.made.check()

        assert await running == [OperationalError] * 2
        assert not loop.made.is_usable()

    in_loop(work)


def test_a_statement_is_prepared_once_although_those_with_it_fail():
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE name <> %s"

    async def work(loop: Loop) -> None:
        for _ in range(5):
            assert await loop.kinds(call(SELECT, 0), call(DIVIDE, 0), call(INSERT, 1)) == [RolledBack] * 3
        ((count,),) = (await loop.execute(call(prepared, "")))[0].rows  # type: ignore[union-attr]

        assert count == 3  # the one that fails, the one before it and that which counts

    in_loop(work)


def test_a_statement_that_a_migration_made_stale_needs_a_new_connection():
    async def work(loop: Loop) -> None:
        assert await loop.kinds(call(COLUMNS, 0)) == [Outcome]
        await asyncio.to_thread(add_column)

        assert await loop.kinds(call(COLUMNS, 0), call(INSERT, 1)) == [RolledBack] * 2
        assert not loop.made.is_usable()

    in_loop(work)
    in_loop(lambda loop: check_kinds(loop, call(COLUMNS, 0)))

    assert rows() == []


def add_column() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute("ALTER TABLE loop_rows ADD COLUMN other int")


async def check_kinds(loop: Loop, *calls: Call) -> None:
    assert await loop.kinds(*calls) == [Outcome] * len(calls)


def test_large_parameters_and_results_pass():
    text = "x" * 1_000_000

    async def work(loop: Loop) -> None:
        assert await loop.execute(*[call("SELECT %s::text", text)] * 8) == [Outcome([(text,)], 1)] * 8

    in_loop(work)


def test_the_database_for_compiling_never_connects(monkeypatch):
    from database.postgresql.loop_connection import CompilingDatabase  # noqa: PLC0415 - only for PostgreSQL

    async def main() -> None:
        compiling = CompilingDatabase(connection.settings_dict)
        with pytest.raises(SynchronousOnlyOperation):
            compiling.prepared_cursor()
        with pytest.raises(SynchronousOnlyOperation):
            compiling.cursor()

    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    asyncio.run(main())
