"""A server on a database of its own, for tests that change or delete everything in it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.support import server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def alone() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address of the server, and the environment that its commands need."""
    port = _free_port()
    with database(f"alone_{port}", migrated=True) as url:
        environment = {
            "PORT": str(port),
            "BASE_URL": f"http://127.0.0.1:{port}",
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        manage(environment, "bootstrap")
        with server.running(**environment) as address:
            yield address, environment


def manage(
    environment: dict[str, str], *command: str, code: Path = settings.BASE_DIR, status: int | None = 0
) -> str:
    """Run a command of the project there, which ends with a status or any, and return what it says."""
    done = attempt(environment, *command, code=code)
    assert status in {None, done.returncode}, done.stdout + done.stderr
    return done.stdout


def attempt(
    environment: dict[str, str], *command: str, code: Path = settings.BASE_DIR
) -> subprocess.CompletedProcess[str]:
    """Run a command of the project there, and return its status and what it says."""
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        env=os.environ | environment,
        cwd=code,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def database(name: str, *, migrated: bool = False) -> Iterator[str]:
    """Yield the address of an empty database, with tables or without. It is dropped at the end."""
    if connection.vendor == "sqlite":
        path = settings.VAR / f"{name}.sqlite3"
        if migrated:
            server.copy_migrated(path)
        yield f"sqlite:///{path}"
        return
    name = f"gatehouse_{name}"
    if migrated:
        server.copy_migrated(name)
    else:
        with server.maintenance() as postgres:
            postgres.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{server.maintenance_url().rpartition('/')[0]}/{name}"
    finally:
        with server.maintenance() as postgres:
            postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
