"""DATABASE_POOL: few connections for many threads."""

import os

import psycopg
import pytest
from django.db import connection

from tests.support import second, server
from tests.support.threads import at_once

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pool")


def test_sixteen_threads_share_two_connections(acme):
    named = f"{os.environ['DATABASE_URL']}?application_name=pooled"
    with second.running(DATABASE_URL=named, DATABASE_POOL="2") as address:
        there = acme.at(address)

        answers = at_once(16, lambda _: [there.get("/.well-known/jwks.json").status_code for _ in range(5)])

        with psycopg.connect(server.maintenance_url()) as postgres:
            row = postgres.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pooled'")
            (held,) = row.fetchone() or (0,)
    assert answers == [[200] * 5] * 16
    assert 1 <= held <= 2
