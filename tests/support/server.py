"""A real server on a real database: what black-box tests talk to."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from management.seeding import bootstrap
from tests.support import budgets, cast, management

_KEPT = "gatehouse_migrated_"  # what the names of databases begin with that PostgreSQL keeps for later runs


def create_database() -> None:
    """Make the PostgreSQL database that the settings name, with the tables that an earlier run made.

    SQLite makes its own.
    """
    if connection.vendor == "sqlite":
        return
    with maintenance() as postgres:
        name = settings.DATABASES["default"]["NAME"]
        try:
            postgres.execute(f'CREATE DATABASE "{name}" TEMPLATE "{_kept_database()}"')
        except (psycopg.errors.InvalidCatalogName, psycopg.errors.ObjectInUse):  # no earlier run has kept it
            postgres.execute(f'CREATE DATABASE "{name}"')
        # No test asks whether a disk keeps what was written, and waiting for it is half of a test's time.
        postgres.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')


def drop_database() -> None:
    if connection.vendor == "sqlite":
        return
    with maintenance() as postgres:
        postgres.execute(f'DROP DATABASE "{settings.DATABASES["default"]["NAME"]}" WITH (FORCE)')
        postgres.execute(f'DROP DATABASE IF EXISTS "{_template()}"')


def maintenance_url() -> str:
    return os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")


def maintenance() -> psycopg.Connection:
    """Connect to where databases are made and dropped."""
    return psycopg.connect(maintenance_url(), autocommit=True)


def prepare() -> None:
    """Migrate, gather static files, make the default tenant and the administrator."""
    _take_migrated()
    call_command("migrate", verbosity=0, interactive=False)
    _keep_migrated()
    call_command("collectstatic", verbosity=0, interactive=False)
    bootstrap.prepare()


def copy_migrated(target: Path | str) -> None:
    """Make a database that has all tables and no rows yet: creating the tables takes longer than most tests.

    ``target`` is the path of a file on SQLite, and the name of a database on PostgreSQL.
    """
    if connection.vendor == "sqlite":
        shutil.copyfile(_template(), target)
        Path(target).chmod(0o600)
        return
    with maintenance() as postgres:
        postgres.execute(f'CREATE DATABASE "{target}" TEMPLATE "{_template()}"')


def _take_migrated() -> None:
    """Begin with the tables that an earlier run on SQLite made: all migrations take 12 s of a processor.

    ``create_database`` does so on PostgreSQL.
    """
    if connection.vendor == "sqlite":
        with suppress(FileNotFoundError):
            shutil.copyfile(_of_earlier_runs(), str(settings.DATABASES["default"]["NAME"]))


def _keep_migrated() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [_template()])
        if not _of_earlier_runs().exists():
            with suppress(OSError):  # another run does the same
                _keep_for_later_runs(_of_earlier_runs())
        return
    connection.close()  # what is connected to cannot be copied
    with maintenance() as postgres:
        name = settings.DATABASES["default"]["NAME"]
        postgres.execute(f'CREATE DATABASE "{_template()}" TEMPLATE "{name}"')
        with suppress(psycopg.Error):  # another run does the same, or drops what we keep
            _keep_database(postgres)


def _keep_database(postgres: psycopg.Connection) -> None:
    """Keep a copy of the template for later runs, and drop what was kept of other migrations.

    The copy gets its name when it is complete. Without that name, the next run drops it.
    """
    named = postgres.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [_KEPT])
    others = {str(name) for (name,) in named}
    if _kept_database() in others:
        others.remove(_kept_database())
    else:
        unfinished = f"{_kept_database()}_{settings.PORT}"
        postgres.execute(f'CREATE DATABASE "{unfinished}" TEMPLATE "{_template()}"')
        postgres.execute(f'ALTER DATABASE "{unfinished}" RENAME TO "{_kept_database()}"')
    for other in others:
        postgres.execute(f'DROP DATABASE IF EXISTS "{other}"')


def _keep_for_later_runs(kept: Path) -> None:
    shutil.rmtree(kept.parent, ignore_errors=True)  # those of other migrations
    kept.parent.mkdir(parents=True)
    unfinished = kept.with_suffix(f".{os.getpid()}")
    shutil.copyfile(_template(), unfinished)
    unfinished.replace(kept)


@cache
def _of_earlier_runs() -> Path:
    """Return the place of a database that has all tables, by all that decides what an empty one gets."""
    folders = [Path(app.path) / "migrations" for app in apps.get_app_configs()]
    sources = [path for folder in (*folders, settings.BASE_DIR / "database") for path in folder.rglob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(f"{path.parent.parent.name}/{path.name}".encode() + path.read_bytes())
    return Path(settings.BASE_DIR / "var" / "tests" / f"{digest.hexdigest()}.sqlite3")


def _kept_database() -> str:
    return f"{_KEPT}{_of_earlier_runs().stem[:32]}"


def _template() -> str:
    if connection.vendor == "sqlite":
        return str(settings.VAR / "migrated.sqlite3")
    return f"{settings.DATABASES['default']['NAME']}_migrated"


@contextmanager
def running(**environment: str) -> Iterator[str]:
    """Serve with gunicorn as production does, and yield the address."""
    with process(settings.BASE_DIR, **environment):
        yield environment.get("BASE_URL", settings.BASE_URL)


@contextmanager
def process(code: Path = settings.BASE_DIR, /, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Serve, with the code of a folder, and yield the process that does, once it answers."""
    log_path = settings.VAR / "server.log"
    # Another release has no such module.
    ours = environment.get("TEST_APPLICATION", "tests.support.counted:application")
    application = [ours] if code == settings.BASE_DIR else []
    with log_path.open("ab") as log:
        served = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", *application],
            env=os.environ
            | {"DJANGO_SETTINGS_MODULE": "config.settings", "TEST_STATEMENTS_FILE": str(budgets.SEEN)}
            | environment,
            cwd=code,
            stdout=log,
            stderr=log,
        )
    port = environment.get("PORT", settings.PORT)
    try:
        wait_for(served, f"http://127.0.0.1:{port}")
        yield served
    finally:
        _disconnect(int(port))
        served.terminate()
        served.wait(40)


def _disconnect(port: int) -> None:
    """Close what the tests keep connected to a server: it would wait for a request on each, when it stops."""
    for client in (*cast.open_clients, management.connection()):
        transport = client._transport
        kept: list[Any] = transport._pool.connections if isinstance(transport, httpx.HTTPTransport) else []
        for one in kept:
            if one._origin.port == port and one.is_idle():
                one.close()


def wait_for(process: subprocess.Popen[bytes], address: str) -> None:
    """Wait until a server answers, or fail with what it said."""
    deadline = time.monotonic() + 120
    with httpx.Client(verify=False) as http:  # noqa: S501 - to load certificates takes as long as a start
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"the server ended: {(settings.VAR / 'server.log').read_text()[-3000:]}")
            try:
                http.get(f"{address}/.well-known/jwks.json")
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
    raise RuntimeError("the server does not answer")
