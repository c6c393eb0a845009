"""Fills a PostgreSQL database with as many users, audit entries and tenants as it is told to.

    python bench/fill.py --database-url postgres://…/name --users 1000000 --entries 10000000

Ran with the product's environment (``DEBUG=true VAR_DIR=…`` will do), because the schema is what
``migrate`` makes and tenants are what the product provisions; the rest is ``rows.py``. Users are
``user0``, ``user1``, … and share one password, ``--password``.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, Final

import psycopg
import rows
from psycopg import ClientCursor
from psycopg.sql import SQL, Identifier

_BATCH: Final = 100_000
# Of what is known of how many entries there are; an earlier release has the first alone.
_COUNTS: Final = ["audit_counted", "audit_stretch"]
_TABLES: Final = "SELECT tablename FROM pg_tables WHERE tablename = ANY(%s)"


def arguments() -> argparse.Namespace:
    """Read what is wanted."""
    parser = argparse.ArgumentParser(description="Fill a PostgreSQL database, in minutes.")
    parser.add_argument("--database-url", required=True, help="made anew if the server has none of this name")
    parser.add_argument("--users", type=int, default=0, help="of the default tenant")
    parser.add_argument("--entries", type=int, default=0, help="audit entries of the default tenant")
    parser.add_argument("--tenants", type=int, default=0, help="beside the default one")
    parser.add_argument("--users-each", type=int, default=0, help="users of each other tenant")
    parser.add_argument("--organizations", type=int, default=0, help="user0 is in all of them")
    parser.add_argument("--members", type=int, default=0, help="users in the first organization")
    parser.add_argument("--roles", type=int, default=0, help="roles for users")
    parser.add_argument("--role-users", type=int, default=0, help="users who have the first role")
    parser.add_argument("--password", default="correct-horse-battery", help="everybody's (%(default)s)")
    parser.add_argument("--more", action="store_true", help="also if there are users or entries already")
    return parser.parse_args()


class Filling:
    """One database that is being filled."""

    def __init__(self, connection: psycopg.Connection, hashed: str) -> None:
        self.connection = connection
        self.began = time.perf_counter()
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute(rows.FUNCTIONS)
        self.given = {"tenant": "default", "password": hashed}

    def say(self, text: str) -> None:
        """Print a line with the time that has passed."""
        print(f"{time.perf_counter() - self.began:7.1f} s  {text}", file=sys.stderr, flush=True)

    def count(self, table: str) -> int:
        """Return how many rows there are."""
        found = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own name
        assert found is not None
        return int(found[0])

    def fill(self, kind: str, number: int, **given: Any) -> None:
        """Insert so many rows of a kind, batch by batch, after those that are there."""
        table, statement = rows.SERIES[kind]
        first = self.count(table)
        end = first + number
        with self._without_indexes([table] if first < _BATCH < number else []):
            for begin in range(first, end, _BATCH):
                last = min(begin + _BATCH, end) - 1
                self.connection.execute(
                    statement, self.given | given | {"first": begin, "last": last, "total": end}
                )
                self.say(f"{kind}: {last + 1 - first:,} of {number:,}")

    def entries(self, number: int) -> None:
        """Insert so many audit entries, which are counted anew when somebody asks."""
        self.connection.execute("ALTER TABLE audit_entry DISABLE TRIGGER USER")
        try:
            self.fill("entries", number, users=max(1, self.count("users_user")))
        finally:
            for table in self.connection.execute(_TABLES, [_COUNTS]).fetchall():
                self.connection.execute(SQL("DELETE FROM {}").format(Identifier(*table)))
            self.connection.execute("ALTER TABLE audit_entry ENABLE TRIGGER USER")

    def users_of(self, tenant: str, number: int) -> None:
        """Insert so many users of a tenant that has none."""
        given = self.given | {"tenant": tenant, "first": 0, "last": number - 1, "total": number}
        self.connection.execute(rows.SERIES["users"][1], given)

    def tie(self, kind: str, number: int) -> None:
        """Insert so many rows that tie others together."""
        if number:
            self.connection.execute(rows.TIES[kind], self.given | {"number": number})
            self.say(f"{kind}: {number:,}")

    @contextmanager
    def _without_indexes(self, tables: list[str]) -> Iterator[None]:
        """Make the secondary indexes of tables once at the end, which is many times faster."""
        indexes = self.connection.execute(rows.SECONDARY_INDEXES, [tables]).fetchall()
        for name, _ in indexes:
            self.connection.execute(f"DROP INDEX {name}")
        try:
            yield
        finally:
            for name, definition in indexes:
                self.connection.execute(definition)
                self.say(f"index {name}")

    def finish(self) -> None:
        """Let the planner know what there is, and index-only scans what everybody sees."""
        self.connection.execute("VACUUM ANALYZE")
        self.say("analyzed")


def prepare(url: str) -> None:
    """Make the database if there is none, and the schema in it, as the product does."""
    server, _, name = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as maintenance:
        if not maintenance.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            maintenance.execute(f'CREATE DATABASE "{name}"')
    os.environ["DATABASE_URL"] = url
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import django  # noqa: PLC0415 - only now the environment names the database
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("bootstrap", stdout=StringIO())  # by its command: the code may be that of an earlier release


def hashed(password: str) -> str:
    """Return the hash that everybody has."""
    from django.contrib.auth.hashers import make_password  # noqa: PLC0415 - Django is set up only now

    return make_password(password)  # by Django, because this also runs on the code of earlier releases


def provision(number: int) -> Iterator[str]:
    """Make tenants as the product does, a hundred in a transaction; yield their ids."""
    from django.db import transaction  # noqa: PLC0415

    from identity.core import tenancy  # noqa: PLC0415
    from identity.tenants import services  # noqa: PLC0415
    from identity.tenants.models import Tenant  # noqa: PLC0415

    first = Tenant.objects.count()
    for begin in range(first, first + number, 100):
        slugs = [f"tenant{n}" for n in range(begin, min(begin + 100, first + number))]
        with tenancy.using(tenancy.EVERYWHERE), transaction.atomic():
            made = [services.provision(slug=slug, name=slug.title()) for slug in slugs]
        yield from (tenant.pk for tenant in made)


def fill(wanted: argparse.Namespace, connection: psycopg.Connection) -> None:
    """Insert what is wanted."""
    filling = Filling(connection, hashed(wanted.password))
    if not wanted.more and any(filling.count(table) for table in rows.EMPTY_AT_FIRST):
        sys.exit("There is something in this database already: name another, or say --more.")
    filling.say(f"everybody's password: {wanted.password}")
    filling.fill("users", wanted.users)
    filling.fill("organizations", wanted.organizations)
    filling.tie("organizations of user0", wanted.organizations)
    filling.tie("members", wanted.members)
    filling.fill("roles", wanted.roles)
    filling.tie("users of a role", wanted.role_users)
    filling.entries(wanted.entries)
    for number, tenant in enumerate(provision(wanted.tenants), 1):
        filling.users_of(tenant, wanted.users_each)
        if number % 500 == 0 or number == wanted.tenants:
            filling.say(f"tenants: {number:,} of {wanted.tenants:,}")
    filling.finish()


def main() -> None:
    """Make the database and fill it."""
    wanted = arguments()
    prepare(wanted.database_url)
    with psycopg.connect(wanted.database_url, autocommit=True, cursor_factory=ClientCursor) as connection:
        fill(wanted, connection)


if __name__ == "__main__":
    main()
