"""PgBouncer in transaction mode, without prepared statements: any connection serves any statement."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from tests.support import postgres_server, second
from tests.support.high_availability import program
from tests.support.threads import wait_until

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="PgBouncer is for PostgreSQL")

CONFIGURATION = """
[databases]
{name} = host={host} port={port} dbname={name} user={user}{password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
"""


@pytest.fixture
def pooled() -> Iterator[str]:
    """The database of the run, by way of three connections that all clients share."""
    bouncer, listen = program("pgbouncer"), second.free_port()
    database = urlsplit(os.environ["DATABASE_URL"])
    name, user = database.path[1:], database.username or "postgres"
    with postgres_server.folder() as folder:
        path = folder / "pgbouncer.ini"
        path.write_text(
            CONFIGURATION.format(
                name=name,
                host=database.hostname,
                port=database.port or 5432,
                user=user,
                password=f" password={database.password}" if database.password else "",
                listen=listen,
            )
        )
        postgres_server.own(path)
        with (folder / "log").open("wb") as log:
            command = postgres_server.as_postgres([bouncer, str(path)])
            process = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                assert wait_until(lambda: listens(listen)), (folder / "log").read_text()
                yield f"postgres://{user}@127.0.0.1:{listen}/{name}"
            finally:
                process.terminate()
                process.wait(30)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def test_statements_that_are_repeated_are_not_prepared(acme, pooled):
    with second.running(DATABASE_URL=pooled, DATABASE_PREPARED_STATEMENTS="false") as address:
        second.issue_tokens(acme, address)
        with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as through:
            names = [through.execute("SELECT name FROM pg_prepared_statements").fetchall() for _ in range(5)]

    assert names == [[]] * 5
