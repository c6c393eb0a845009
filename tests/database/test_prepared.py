"""Compiled statements are executed by their prepared names, and look as with Django's cursor."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import (
    DatabaseError,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)
from django.test.utils import CaptureQueriesContext

from database.availability import is_unavailable
from tests.support import second
from tests.support.cast import World
from tests.support.prepared_statements import outcome, prepare, run

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL prepares"),
    pytest.mark.usefixtures("thread"),
]

FAIL = """
CREATE FUNCTION pg_temp.fail(code text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    IF code <> '' THEN
        RAISE EXCEPTION USING ERRCODE = code, MESSAGE = 'it failed', CONSTRAINT = 'only_one', DETAIL = 'why';
    END IF;
    RETURN 1;
END $$
"""
CODES = (
    *("23505", "23503", "23514", "22P02", "22001", "42501", "57014"),
    *("40001", "40P01", "25006", "53300", "0A000"),
)


@pytest.fixture
def own() -> Iterator[Any]:
    """A connection of the test's own."""
    made: Any = connection.copy()
    yield made
    made.close()


def test_a_repeated_statement_runs_by_its_name(own, usual):
    """Fails if a release of psycopg keeps what it has prepared elsewhere."""
    results = [run(own, "SELECT %s::int + 1", 7) for _ in range(9)]

    assert results == [[(8,)]] * 9
    assert usual.count("SELECT %s::int + 1") == 4


def test_values_of_other_types_and_none_are_other_statements(own):
    for _ in range(6):
        for value in (7, 2**40, "7", None, UUID(int=7), datetime(2026, 11, 24, tzinfo=UTC)):
            ((shown,),) = run(own, "SELECT %s::text", value)
            ((expected,),) = run(own, "SELECT %s::text", value, opener="cursor")
            assert shown == expected


@pytest.mark.parametrize(
    "code",
    [
        "23505",
        "23503",
        "23514",
        "22P02",
        "22001",
        "42501",
        "57014",
        "40001",
        "40P01",
        "25006",
        "53300",
        "0A000",
    ],
)
@pytest.mark.parametrize("is_atomic", [False, True])
def test_errors_are_those_of_the_usual_cursor(own, usual, code, is_atomic):
    sql, found = "SELECT pg_temp.fail(%s)", []
    with own.cursor() as cursor:
        cursor.execute(FAIL)
    for opener in ("cursor", "prepared_cursor"):
        for _ in range(5):
            run(own, sql, "", opener=opener)
        usual.clear()
        own.set_autocommit(not is_atomic)
        run(own, "SELECT 1")
        found.append(outcome(own, opener, sql, [code]))
        found[-1] = (*found[-1], own.errors_occurred)
        own.rollback() if is_atomic else None
        own.set_autocommit(True)
        own.errors_occurred = False

    by_django, by_name = found
    assert by_django == by_name
    assert by_name[3] == code
    assert (sql in usual) is (code == "0A000" and not is_atomic)  # that one is prepared again


def test_an_integrity_error_names_its_constraint(acme, own):
    insert = "INSERT INTO tenants_tenant SELECT * FROM tenants_tenant WHERE slug = %s"
    found = []
    for opener in ("cursor", "prepared_cursor"):
        prepare(own, insert, [acme.tenant.slug])
        found.append(outcome(own, opener, insert, [acme.tenant.slug]))

    assert found[0] == found[1]
    assert found[0][4][0] == "tenants_tenant_pkey"


def test_a_standby_is_unavailable(own):
    write = "UPDATE tenants_tenant SET slug = slug WHERE slug = %s"
    prepare(own, write, ["nobody"])
    with own.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")

    with pytest.raises(DatabaseError) as raised:
        run(own, write, "nobody")

    assert is_unavailable(raised.value)


def test_a_statement_that_takes_too_long_is_cancelled(own):
    prepare(own, "SELECT pg_sleep(%s)", [20])
    with own.cursor() as cursor:
        cursor.execute("SET statement_timeout = '100ms'")

    for _ in range(2):
        with pytest.raises(OperationalError, match="statement timeout"):
            run(own, "SELECT pg_sleep(%s)", 20)

    assert run(own, "SELECT %s::int", 1) == [(1,)]


@pytest.mark.parametrize("thread", ["main thread"], indirect=True)
def test_ctrl_c_ends_a_statement_and_not_the_connection(own):
    prepare(own, "SELECT pg_sleep(%s)", [20])
    before = run(own, "SELECT pg_backend_pid()")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(own, "SELECT pg_sleep(%s)", 20)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)

    assert time.monotonic() - started < 10
    assert run(own, "SELECT pg_backend_pid()") == before


@pytest.mark.parametrize("command", ["DISCARD ALL", "DEALLOCATE ALL"])
def test_names_that_something_else_deallocated_are_prepared_again(own, command):
    for _ in range(6):
        run(own, "SELECT %s::int", 1)
    own.connection.pgconn.exec_(command.encode())  # psycopg does not see it

    assert [run(own, "SELECT %s::int", 1) for _ in range(9)] == [[(1,)]] * 9


def test_in_a_transaction_a_deallocated_name_is_an_error_as_before(own):
    for opener in ("cursor", "prepared_cursor"):
        for _ in range(6):
            run(own, "SELECT %s::int", 1, opener=opener)
        own.set_autocommit(False)
        run(own, "SELECT 2")
        own.connection.pgconn.exec_(b"DEALLOCATE ALL")
        with pytest.raises(ProgrammingError, match="does not exist"):
            run(own, "SELECT %s::int", 1, opener=opener)
        own.rollback()
        own.set_autocommit(True)

        assert run(own, "SELECT %s::int", 1, opener=opener) == [(1,)]


def test_a_migration_spoils_no_statement(own):
    read, other = "SELECT word FROM spoiled WHERE word <> %s", connection.copy()
    with other.cursor() as migration:
        migration.execute("CREATE TABLE spoiled (word varchar(8))")
        try:
            for size in (9, 10):
                for _ in range(6):
                    assert run(own, read, "x") == []
                migration.execute(f"ALTER TABLE spoiled ALTER word TYPE varchar({size})")
            assert run(own, read, "x") == []
        finally:
            migration.execute("DROP TABLE spoiled")
    other.close()


def test_a_connection_that_was_ended_is_replaced(own):
    for _ in range(6):
        ((pid,),) = run(own, "SELECT pg_backend_pid() + %s", 0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 1000)", [pid])

    with pytest.raises(OperationalError):
        run(own, "SELECT pg_backend_pid() + %s", 0)
    own.close_if_unusable_or_obsolete()  # as at the end of each request

    pids = {run(own, "SELECT pg_backend_pid() + %s", 0)[0][0] for _ in range(6)}
    assert len(pids) == 1
    assert pid not in pids


def test_a_connection_that_is_ended_during_a_statement_is_unavailable(own):
    end = "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(%s)"
    prepare(own, end, [20])

    with pytest.raises(OperationalError) as raised:
        run(own, end, 20)

    assert is_unavailable(raised.value)
    assert own.errors_occurred
    assert not own.is_usable()


class TestTransactions:
    """Those of Django: the first statement begins one, an error breaks it, and savepoints undo."""

    INSERT = "INSERT INTO noted VALUES (%s)"

    @pytest.fixture
    def noted(self) -> Iterator[Any]:
        database: Any = connections["default"]
        with database.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE noted (number int PRIMARY KEY)")
        yield database
        with database.cursor() as cursor:
            cursor.execute("DROP TABLE noted")

    @staticmethod
    def note(database: Any, number: int) -> int:
        with database.prepared_cursor() as cursor:
            cursor.execute(TestTransactions.INSERT, [number])
            return int(cursor.rowcount)

    @staticmethod
    def noted_numbers(database: Any) -> list[int]:
        return sorted(number for (number,) in run(database, "SELECT number FROM noted"))

    def test_what_is_rolled_back_is_undone(self, noted):
        assert [self.note(noted, number) for number in range(6)] == [1] * 6
        with suppress(ZeroDivisionError), transaction.atomic():
            assert [self.note(noted, number) for number in range(10, 16)] == [1] * 6
            raise ZeroDivisionError
        with transaction.atomic():
            self.note(noted, 20)
            with suppress(DatabaseError), transaction.atomic():
                self.note(noted, 21)
                self.note(noted, 20)
            self.note(noted, 22)

        assert self.noted_numbers(noted) == [*range(6), 20, 22]

    def test_the_first_statement_begins_a_transaction(self, noted):
        for number in range(6):
            self.note(noted, number)
        with transaction.atomic():
            self.note(noted, 10)
            assert not noted.get_autocommit()
            transaction.set_rollback(True)

        assert self.noted_numbers(noted) == list(range(6))

    def test_a_broken_transaction_runs_nothing(self, noted):
        with transaction.atomic():
            with suppress(DatabaseError):
                self.note(noted, 1)
                self.note(noted, 1)
            noted.needs_rollback = True
            with pytest.raises(transaction.TransactionManagementError):
                self.note(noted, 2)

    def test_wrappers_and_captured_queries_see_each_statement(self, noted):
        seen = []

        def wrapper(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
            seen.append((sql, params))
            return execute(sql, params, many, context)

        with noted.execute_wrapper(wrapper), CaptureQueriesContext(noted) as captured:
            for number in range(6):
                self.note(noted, number)

        assert seen == [(self.INSERT, [number]) for number in range(6)]
        assert [query["sql"] for query in captured] == [self.INSERT % number for number in range(6)]


class TestServers:
    @pytest.fixture
    def thread(self) -> None:
        """Threads of the server are not the main thread."""

    def test_without_prepared_statements_django_executes_all(self, usual):
        own: Any = connection.copy()
        own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], "prepare_threshold": None}
        for _ in range(6):
            assert run(own, "SELECT %s::int", 1) == [(1,)]
        prepared = run(own, "SELECT name FROM pg_prepared_statements")
        own.close()

        assert usual.count("SELECT %s::int") == 6
        assert prepared == []

    @pytest.mark.parametrize(
        "settings",
        [{"DATABASE_POOL": "2"}, {"DATABASE_PREPARED_STATEMENTS": "false"}],
        ids=["pool", "without"],
    )
    def test_tokens_are_issued(self, acme: World, settings: dict[str, str]):
        with second.running(**settings) as address:
            second.issue_tokens(acme, address)
