"""Neither a connection that the server ended nor a plan that a migration spoiled costs a request."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC

import pytest
from django.db import DataError, NotSupportedError, OperationalError, connection
from django.db.backends.postgresql.psycopg_any import register_tzloader
from psycopg import ConnectionInfo

from database.availability import is_unavailable
from tests.support import second
from tests.support.cast import World

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="only PostgreSQL has connections that somebody else can end"
)


def pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_connection_that_works_is_kept():
    before = pid()
    assert connection.is_usable()
    assert pid() == before


def test_a_connection_that_was_ended_is_not_usable():
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 1000)", [pid()])
    other.close()
    assert not connection.is_usable()
    connection.close()
    assert connection.is_usable() is False
    connection.ensure_connection()
    assert connection.is_usable()


def test_a_connection_to_a_standby_is_not_usable(monkeypatch):
    """PostgreSQL reports by itself whether it is one, so asking costs no statement."""
    connection.ensure_connection()
    assert connection.connection.info.parameter_status("in_hot_standby") == "off"

    monkeypatch.setattr(ConnectionInfo, "parameter_status", {"in_hot_standby": "on"}.get)

    assert connection.is_usable() is False


def test_a_connection_that_broke_under_a_statement_is_not_usable(database):
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    assert connection.is_usable() is False
    connection.close_if_unusable_or_obsolete()  # as at the end of each request
    assert pid()


def test_a_server_whose_connections_were_all_ended_answers_the_next_requests(acme: World):
    """As after a restart of the database: no request is lost, however many threads held a connection."""
    url = os.environ["DATABASE_URL"]
    named = f"{url}{'&' if '?' in url else '?'}application_name=restarted"
    with second.running(DATABASE_URL=named) as address:
        machine = acme.at(address).application("MachineToMachine")

        def status(_: int = 0) -> int:
            return machine.token(grant_type="client_credentials").status_code

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(status, range(24))) == {200}
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid, 1000)) FROM pg_stat_activity"
                " WHERE application_name = 'restarted' AND datname = current_database()"
            )
            assert cursor.fetchone()[0] > 0
        assert [status() for _ in range(20)] == [200] * 20


def test_a_statement_that_was_prepared_survives_that_its_column_changes(database):
    """psycopg would run the old plan again, and be refused again, until the connection ends."""
    read, other = "SELECT word FROM changed WHERE word <> %s", connection.copy()
    with other.cursor() as migration, connection.cursor() as cursor:
        migration.execute("CREATE TABLE changed (word varchar(8))")
        try:
            for size in ("9", "10"):
                for _ in range(6):
                    cursor.execute(read, ["x"])
                migration.execute(f"ALTER TABLE changed ALTER word TYPE varchar({size})")
                cursor.execute(read, ["x"])
                assert cursor.fetchall() == []
        finally:
            migration.execute("DROP TABLE changed")
    other.close()


def test_what_postgresql_cannot_do_is_still_an_error(database):
    with pytest.raises(NotSupportedError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tenants_tenant GROUP BY id HAVING count(*) > 0 FOR UPDATE")


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-21 17:30:48.260305+00", "2026-11-21 17:30:48.26+00", "2026-11-21 17:30:48+00"),
        *("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "1969-12-31 23:59:59.000001+00"),
        *("2026-11-21 17:30:48.5+05:30", "2026-11-21 17:30:48-00:00:10"),
    ],
)
def test_a_moment_is_read_as_django_reads_it(database, text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        (quick,) = cursor.fetchone()
        register_tzloader(UTC, cursor)
        cursor.execute("SELECT %s::timestamptz", [text])
        (usual,) = cursor.fetchone()
    assert (quick, quick.tzinfo, quick.fold) == (usual, usual.tzinfo, usual.fold)


@pytest.mark.parametrize("text", ["infinity", "10000-01-01 00:00:00+00", "0044-03-15 00:00:00+00 BC"])
def test_a_moment_that_python_does_not_know_is_refused_as_ever(database, text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        with pytest.raises(DataError):
            cursor.fetchone()


def test_a_limit_that_a_statement_exceeds_each_time_is_no_outage(database):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE wide (text text UNIQUE)")
        wide = "".join(chr(0x4E00 + number) for number in range(2_038))
        with pytest.raises(OperationalError, match="exceeds btree") as raised:
            cursor.execute("INSERT INTO wide VALUES (%s)", [wide])
        cursor.execute("DROP TABLE wide")

    assert not is_unavailable(raised.value)
