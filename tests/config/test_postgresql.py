"""A connection that the server ended is noticed before a request is lost on it."""

import pytest
from django.db import connection

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


def test_a_server_whose_connections_were_all_ended_answers_the_next_requests(acme: World):
    """As after a restart of the database: no request is lost, however many threads held a connection."""
    machine = acme.application("MachineToMachine")
    assert machine.token(grant_type="client_credentials").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    answers = [machine.token(grant_type="client_credentials").status_code for _ in range(20)]
    assert answers == [200] * 20
