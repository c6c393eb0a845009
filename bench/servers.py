"""Gatehouse as it runs in production, with a database and a folder that are deleted at the end."""

import base64
import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import processes, procfs
from bench.databases import Database, new_database
from bench.processes import ROOT, Failed

# Variables of our environment that the server gets too.
TUNABLE: Final = (
    "WEB_CONCURRENCY",
    "THREADS",
    "HASHING_CONCURRENCY",
    "HASHING_QUEUE",
    "CACHE_URL",
    "DATABASE_POOL",
)
_START_TIMEOUT: Final = 30  # seconds
_DISCOVERY: Final = "/.well-known/openid-configuration"
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: one process, or one with workers."""

    process: subprocess.Popen[str]
    port: int
    first_answer: float  # seconds after its start

    def processes(self) -> list[int]:
        """Return the master, its workers, and all that they started."""
        return procfs.family_of(self.process.pid) if procfs.AVAILABLE else []

    def workers(self) -> list[int]:
        """Return the workers, without the processes that hash for them."""
        family = self.processes()
        return [pid for pid in family if procfs.parent_of(pid) == self.process.pid] or family


@dataclass(frozen=True, slots=True)
class Target:
    """A server to measure, its database, and the seed data that its clients need."""

    server: Server
    database: Database | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Installation:
    """Gatehouse with its database and settings, before its server is started."""

    folder: Path
    database: Database
    environment: dict[str, str]
    data: dict[str, Any]

    @contextmanager
    def server(self) -> Iterator[Server]:
        """Run the server as production does."""
        with self._gunicorn(self.environment["PORT"], _DISCOVERY) as server:
            yield server

    @contextmanager
    def baseline(self) -> Iterator[Server]:
        """Run an empty application in the same gunicorn with the same settings."""
        port = str(free_port())
        arguments = ("--bind", f"127.0.0.1:{port}", "bench.baseline:application")
        with self._gunicorn(port, "/", *arguments) as server:
            yield server

    def _gunicorn(self, port: str, path: str, *arguments: str) -> Any:
        command = processes.module("gunicorn", "--config", "python:config.gunicorn", *arguments)
        return start_server(command, self.environment, int(port), path, self.folder / "server.log")

    def fill(self, *sizes: str) -> None:
        """Fill the database with ``bench fill``, which prints its progress.

        Raises:
            Failed: it ended with an error.

        """
        command = processes.module("bench", "fill", "--database-url", self.database.url, *sizes)
        filling = processes.start(command, self.environment)
        try:
            if filling.wait():
                raise Failed("the database could not be filled")
        finally:
            processes.stop(filling)


@contextmanager
def new_installation(
    *, sqlite: bool = False, name: str = "bench", seeded: bool = True
) -> Iterator[Installation]:
    """Create a folder and a migrated database with seed data; delete both at the end."""
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder())
        database = stack.enter_context(new_database(folder, sqlite=sqlite, name=name))
        environment = production_environment(folder, database.url)
        data = _seed(environment) if seeded else {}
        yield Installation(folder, database, environment, data)


@contextmanager
def new_target(*, sqlite: bool = False) -> Iterator[tuple[Target, Installation]]:
    """Create an installation and run its server."""
    with new_installation(sqlite=sqlite) as installation, installation.server() as server:
        yield Target(server, installation.database, installation.data), installation


@contextmanager
def new_folder() -> Iterator[Path]:
    """Create a folder for everything that the server writes, and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="gatehouse-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def production_environment(folder: Path, database_url: str) -> dict[str, str]:
    """Return the environment of a production server on the loopback address."""
    port = free_port()
    return (
        processes.inherited_environment()
        | {"WEB_CONCURRENCY": "2"}
        | {name: os.environ[name] for name in TUNABLE if name in os.environ}
        | {
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEBUG": "false",
            "VAR_DIR": str(folder),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "BASE_URL": f"http://127.0.0.1:{port}",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "ADMIN_PASSWORD": secrets.token_urlsafe(16),
            "DATABASE_URL": database_url,
            # All load comes from one address. The limits still count, but never refuse.
            "LIMIT_ADDRESS_SIGN_INS": "1000000000",
            "LIMIT_ADDRESS_NEW_PARKED_REQUESTS": "1000000000",
            "LIMIT_ADDRESS_PARKED_REQUESTS": "1000000000",
            "LOCK_PAIR_FAILURES": "1000000",
            "LOCK_IDENTIFIER_FAILURES": "1000000",
        }
    )


def _seed(environment: dict[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        processes.output_of(processes.module("bench.seed"), environment, timeout=300)
    )
    return data


@contextmanager
def start_server(
    command: list[str], environment: dict[str, str], port: int, path: str, log_path: Path
) -> Iterator[Server]:
    """Run a server, from its first answer at this path until the block ends."""
    with log_path.open("a") as log:
        started = time.perf_counter()
        process = processes.start(command, environment, stdout=log, stderr=log)
    try:
        _wait_for_answer(process, port, path, log_path)
        yield Server(process, port, time.perf_counter() - started)
    finally:
        processes.stop(process)


def _wait_for_answer(process: subprocess.Popen[str], port: int, path: str, log_path: Path) -> None:
    deadline = time.perf_counter() + _START_TIMEOUT
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            raise Failed(f"the server ended:\n{log_path.read_text()[-3000:]}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_START_TIMEOUT)
        try:
            connection.request("GET", path)
            status = connection.getresponse().status
        except OSError:
            time.sleep(0.01)
        else:
            if status == _OK:
                return
            raise Failed(f"the server answered {status} at {path}:\n{log_path.read_text()[-3000:]}")
        finally:
            connection.close()
    raise Failed(f"the server did not answer within {_START_TIMEOUT} s")
