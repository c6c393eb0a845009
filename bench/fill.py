"""Fill a PostgreSQL database with users, audit entries, organizations, roles and tenants.

    python -m bench fill --database-url postgres://…/name --users 1000000 --entries 10000000

Needs the product's environment: ``DEBUG=true VAR_DIR=…`` is enough. ``migrate`` creates the schema and
the product provisions tenants; all other rows come from ``fill_statements.py``. Users are ``user0``,
``user1``, … with one password. The upgrade tests run this on the code of earlier releases, so it uses
only names of the product that do not change.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any, Final

import psycopg
from psycopg import ClientCursor
from psycopg.sql import SQL, Identifier

from bench import fill_statements
from bench.processes import Failed

_BATCH: Final = 100_000
# Tables with the number of entries; an earlier release has only the first.
_ENTRY_COUNTS: Final = ["audit_counted", "audit_stretch"]
_EXISTING_TABLES: Final = "SELECT tablename FROM pg_tables WHERE tablename = ANY(%s)"
_SIZES: Final = {
    "users": "in the default tenant",
    "entries": "audit entries of the default tenant",
    "tenants": "in addition to the default one",
    "users-each": "users of each other tenant",
    "organizations": "user0 is a member of all",
    "members": "users in the first organization",
    "roles": "roles for users",
    "role-users": "users who have the first role",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database-url", required=True, help="is created if it does not exist")
    for name, text in _SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=0, help=text)
    parser.add_argument("--password", default="correct-horse-battery", help="of all users (%(default)s)")
    parser.add_argument("--more", action="store_true", help="add to existing users and organizations")


class Filler:
    """Inserts rows into one database."""

    def __init__(self, connection: psycopg.Connection, hashed_password: str) -> None:
        self.connection = connection
        self.started = time.perf_counter()
        self.parameters = {"tenant": "default", "password": hashed_password}
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute(fill_statements.FUNCTIONS)

    def progress(self, text: str) -> None:
        print(f"{time.perf_counter() - self.started:7.1f} s  {text}", file=sys.stderr, flush=True)

    def count(self, table: str) -> int:
        """Return the number of rows."""
        row = self.connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone()
        assert row is not None
        return int(row[0])

    def insert(self, kind: str, number: int, **parameters: Any) -> None:
        """Insert this many numbered rows after the existing ones, in batches."""
        table, statement = fill_statements.SERIES[kind]
        first = self.count(table)
        end = first + number
        with self._without_indexes([table] if first < _BATCH < number else []):
            for start in range(first, end, _BATCH):
                last = min(start + _BATCH, end) - 1
                batch = {"first": start, "last": last, "total": end}
                self.connection.execute(statement, self.parameters | parameters | batch)
                self.progress(f"{kind}: {last + 1 - first:,} of {number:,}")

    def insert_entries(self, number: int) -> None:
        """Insert audit entries with the table's triggers disabled, and delete the counts of entries."""
        self.connection.execute("ALTER TABLE audit_entry DISABLE TRIGGER USER")
        try:
            self.insert("entries", number, users=max(1, self.count("users_user")))
        finally:
            for table in self.connection.execute(_EXISTING_TABLES, [_ENTRY_COUNTS]).fetchall():
                self.connection.execute(SQL("DELETE FROM {}").format(Identifier(*table)))
            self.connection.execute("ALTER TABLE audit_entry ENABLE TRIGGER USER")

    def insert_users_of(self, tenant: str, number: int) -> None:
        """Insert users of a tenant that has none."""
        numbers = {"tenant": tenant, "first": 0, "last": number - 1, "total": number}
        self.connection.execute(fill_statements.SERIES["users"][1], self.parameters | numbers)

    def relate(self, kind: str, number: int) -> None:
        """Insert this many rows that relate other rows."""
        if number:
            self.connection.execute(fill_statements.RELATIONS[kind], self.parameters | {"number": number})
            self.progress(f"{kind}: {number:,}")

    @contextmanager
    def _without_indexes(self, tables: list[str]) -> Iterator[None]:
        """Drop the secondary indexes and create them at the end, which is many times faster."""
        indexes = self.connection.execute(fill_statements.SECONDARY_INDEXES, [tables]).fetchall()
        for name, _ in indexes:
            self.connection.execute(f"DROP INDEX {name}")
        try:
            yield
        finally:
            for name, definition in indexes:
                self.connection.execute(definition)
                self.progress(f"index {name}")

    def analyze(self) -> None:
        """Update the planner's statistics and the visibility map."""
        self.connection.execute("VACUUM ANALYZE")
        self.progress("analyzed")


def _prepare(url: str) -> None:
    """Create the database if it does not exist, and its schema."""
    server, _, name = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as maintenance:
        if not maintenance.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            maintenance.execute(f'CREATE DATABASE "{name}"')
    os.environ["DATABASE_URL"] = url
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django  # noqa: PLC0415 - only now does the environment name the database
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("bootstrap", stdout=StringIO())


def _hash(password: str) -> str:
    from django.contrib.auth.hashers import make_password  # noqa: PLC0415 - after setup()

    return make_password(password)


def _provision(number: int) -> Iterator[str]:
    """Create tenants with the product's service, a hundred in a transaction; yield their ids."""
    from django.db import transaction  # noqa: PLC0415 - after setup()

    from identity.core import tenancy  # noqa: PLC0415
    from identity.tenants import services  # noqa: PLC0415
    from identity.tenants.models import Tenant  # noqa: PLC0415

    first = Tenant.objects.count()
    for start in range(first, first + number, 100):
        slugs = [f"tenant{n}" for n in range(start, min(start + 100, first + number))]
        with tenancy.using(tenancy.EVERYWHERE), transaction.atomic():
            tenants = [services.provision(slug=slug, name=slug.title()) for slug in slugs]
        yield from (tenant.pk for tenant in tenants)


def _fill(arguments: argparse.Namespace, connection: psycopg.Connection) -> None:
    filler = Filler(connection, _hash(arguments.password))
    if not arguments.more and any(filler.count(table) for table in fill_statements.EMPTY_AT_FIRST):
        raise Failed("this database has users or organizations: name another, or add --more")
    filler.progress(f"password of all users: {arguments.password}")
    filler.insert("users", arguments.users)
    filler.insert("organizations", arguments.organizations)
    filler.relate("organizations of user0", arguments.organizations)
    filler.relate("members", arguments.members)
    filler.insert("roles", arguments.roles)
    filler.relate("users of a role", arguments.role_users)
    filler.insert_entries(arguments.entries)
    for number, tenant in enumerate(_provision(arguments.tenants), 1):
        filler.insert_users_of(tenant, arguments.users_each)
        if number % 500 == 0 or number == arguments.tenants:
            filler.progress(f"tenants: {number:,} of {arguments.tenants:,}")
    filler.analyze()


def main(arguments: argparse.Namespace) -> int:
    """Create the database and fill it."""
    _prepare(arguments.database_url)
    with psycopg.connect(arguments.database_url, autocommit=True, cursor_factory=ClientCursor) as connection:
        _fill(arguments, connection)
    return 0
