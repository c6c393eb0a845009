"""Statements that are executed together on a connection of PostgreSQL."""

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection
from psycopg.pq import PipelineStatus

from database.batching import Call, Outcome, RolledBack

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has pipelines")

INSERT = "INSERT INTO together_rows VALUES (%s)"
SELECT = "SELECT number, number * 2 FROM together_rows WHERE number > %s ORDER BY 1"


@pytest.fixture
def own(database: None) -> Iterator[Any]:
    """A connection of the test's own, and a table."""
    made: Any = connection.copy()
    with made.cursor() as cursor:
        cursor.execute("CREATE TABLE together_rows (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    yield made
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE together_rows")
    made.close()


def call(sql: str, *parameters: Any) -> Call:
    return Call(sql, parameters, lambda: pytest.fail("executed alone"))


def inserts() -> list[Call]:
    return [call(INSERT, number) for number in range(5)]


def prepare(own: Any, *calls: Call) -> None:
    """Execute calls until they are prepared, without an effect."""
    for each in calls:
        for _ in range(1 if each.sql == INSERT else 5):
            with own.prepared_cursor() as cursor:
                cursor.execute(each.sql, each.parameters)
    with own.cursor() as cursor:
        cursor.execute("DELETE FROM together_rows")


def rows(own: Any) -> list[int]:
    with own.cursor() as cursor:
        cursor.execute("SELECT number FROM together_rows ORDER BY 1")
        return [number for (number,) in cursor.fetchall()]


def test_outcomes_are_in_the_order_of_the_calls(own):
    prepare(own, call(SELECT, 0), *inserts())

    assert own.execute_batch([call(INSERT, 1), call(SELECT, 0), call(INSERT, 2), call(SELECT, 0)]) == [
        Outcome([], 1),
        Outcome([(1, 2)], 1),
        Outcome([], 1),
        Outcome([(1, 2), (2, 4)], 2),
    ]
    assert rows(own) == [1, 2]


def test_they_are_not_executed_before_they_are_prepared(own):
    assert own.execute_batch([call(INSERT, 1), call(SELECT, 0)]) is None
    assert rows(own) == []


class TestPrepared:
    @pytest.fixture(autouse=True)
    def prepared(self, own: Any) -> None:
        prepare(
            own, *inserts(), call(SELECT, 0), call("SELECT 1 / %s::int", 1), call("SELECT pg_sleep(%s)", 0)
        )

    def test_they_are_not_executed_in_a_transaction(self, own):
        own.set_autocommit(False)
        assert own.execute_batch([call(INSERT, 1), call(INSERT, 2)]) is None
        own.rollback()
        own.set_autocommit(True)

    def test_they_are_not_executed_while_statements_are_observed(self, own):
        with own.execute_wrapper(lambda execute, *arguments: execute(*arguments)):
            assert own.execute_batch([call(INSERT, 1), call(INSERT, 2)]) is None

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_one_that_fails_undoes_all(self, own, place):
        calls = [call(INSERT, 1), call(INSERT, 2)]
        calls.insert(place, call("SELECT 1 / %s::int", 0))

        errors = own.execute_batch(calls)

        assert [type(error) for error in errors] == [RolledBack] * 3
        assert rows(own) == []
        assert self.works(own)

    def test_a_commit_that_fails_undoes_all(self, own):
        errors = own.execute_batch([call(INSERT, 1), call(INSERT, 1)])

        assert [type(error) for error in errors] == [RolledBack] * 2
        assert rows(own) == []
        assert self.works(own)

    def test_one_that_cannot_be_sent_undoes_all(self, own):
        prepare(own, call("SELECT %s::text", "x"))

        errors = own.execute_batch([call(INSERT, 1), call("SELECT %s::text", "\0")])

        assert [type(error) for error in errors] == [RolledBack] * 2
        assert self.works(own)

    def test_rows_that_cannot_be_read_are_the_error_of_one(self, own):
        prepare(own, call("SELECT %s::timestamptz", "2026-11-27"))

        written, unread = own.execute_batch([call(INSERT, 1), call("SELECT %s::timestamptz", "infinity")])

        assert written == Outcome([], 1)
        assert isinstance(unread, DatabaseError)
        assert rows(own) == [1]

    def test_one_that_waits_too_long_is_not_executed_again(self, own):
        with own.cursor() as cursor:
            cursor.execute("SET statement_timeout = 300")

        late = call("SELECT pg_sleep(%s)", 20)
        errors = own.execute_batch([call(INSERT, 1), late, call(INSERT, 2), late])

        assert [type(error) for error in errors] == [
            RolledBack,
            OperationalError,
            RolledBack,
            OperationalError,
        ]
        assert self.works(own)

    @pytest.mark.parametrize("number", [2, 5000])
    def test_a_server_that_ends_the_session_fails_all(self, own, number):
        pid = own.connection.info.backend_pid
        ending = threading.Thread(target=terminate, args=(pid,))
        ending.start()
        calls = [call("SELECT pg_sleep(%s)", 5), *(call(INSERT, each) for each in range(number))]

        began = time.monotonic()
        with pytest.raises(OperationalError):
            own.execute_batch(calls)

        ending.join()
        assert time.monotonic() - began < 4
        assert own.connection.closed
        own.close_if_unusable_or_obsolete()
        assert rows(own) == []

    def test_large_parameters_and_results_pass(self, own):
        text = "x" * 1_000_000
        prepare(own, call("SELECT %s::text", "x"))

        outcomes = own.execute_batch([call("SELECT %s::text", text)] * 8)

        assert outcomes == [Outcome([(text,)], 1)] * 8

    def works(self, own: Any) -> bool:
        """Say whether calls can still be executed together and alone."""
        assert own.connection.pgconn.pipeline_status == PipelineStatus.OFF
        outcomes = own.execute_batch([call(INSERT, 7), call(SELECT, 0)])
        return bool(outcomes == [Outcome([], 1), Outcome([(7, 14)], 1)] and rows(own) == [7])


def terminate(pid: int) -> None:
    time.sleep(0.5)
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute("SELECT pg_terminate_backend(%s)", [pid])
