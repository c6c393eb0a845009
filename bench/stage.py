"""Where the measurement takes place: a throw-away database, a place for files, and servers.

Everything made here is gone when its ``with`` block ends, however it ends.
"""

import base64
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import procfs
import psycopg
from wire import Wrong

ROOT: Final = Path(__file__).resolve().parent.parent
BENCH: Final = ROOT / "bench"
DEFAULT_DATABASE: Final = "postgres://postgres@127.0.0.1:5432/postgres"
WORKERS: Final = "2"
# What an operator may tune, taken over from the environment of whoever measures.
TUNABLE: Final = (
    "WEB_CONCURRENCY",
    "THREADS",
    "HASHING_CONCURRENCY",
    "HASHING_QUEUE",
    "CACHE_URL",
    "DATABASE_POOL",
)
_KEPT: Final = {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"}
_PATIENCE: Final = 30  # seconds for a server to answer, and to stop
_DISCOVERY: Final = "/.well-known/openid-configuration"
_OK: Final = 200
_INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failed(Exception):
    """The stage could not be set; the text says why."""


def outcome(main: Callable[[], int]) -> int:
    """Run a program of ours, which cleans up however it is stopped; return its exit code."""
    for name in _SIGNALS:
        signal.signal(name, _interrupt)
    try:
        return main()
    except KeyboardInterrupt:
        print("\nStopped. Nothing is left behind.")
        return _INTERRUPTED
    except (Failed, Wrong) as failure:
        print(f"\nIt cannot be measured: {failure}", file=sys.stderr)
        return 1


def _interrupt(*_: object) -> None:
    """Stop once; whoever presses again while everything is cleaned up is not heard."""
    for name in _SIGNALS:
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


def start(command: list[str], environment: dict[str, str], **options: Any) -> subprocess.Popen[str]:
    """Start a program in a session of its own: Ctrl-C reaches us alone, and we end it in order."""
    return subprocess.Popen(  # noqa: S603 - our own programs, no shell
        command, env=environment, cwd=ROOT, text=True, start_new_session=True, **options
    )


def stop(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started."""
    try:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def output_of(command: list[str], environment: dict[str, str], *, within: float, text: str = "") -> str:
    """Run a program to its end and return what it printed.

    Raises:
        Failed: it failed, or took too long.

    """
    process = start(
        command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said, complaint = process.communicate(text, timeout=within)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(command[1]).name} took more than {within:.0f} s") from None
    finally:
        stop(process)
    if process.returncode:
        raise Failed(f"{Path(command[1]).name} failed:\n{complaint.strip()[-800:]}")
    return said


@dataclass(frozen=True, slots=True)
class Database:
    """The database under the product, and what can be said of it."""

    url: str
    version: str
    settings: dict[str, str]
    note: str = ""
    watch: psycopg.Connection | None = None

    def processes(self) -> list[int]:
        """Return the processes that serve this database, if they are on this machine.

        Those that write for all databases of the server are counted too.
        """
        if self.watch is None:
            return []
        rows = self.watch.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
            " OR backend_type IN ('walwriter', 'background writer', 'checkpointer')",
            [urlsplit(self.url).path[1:]],
        )
        pids = [int(pid) for (pid,) in rows]
        return pids if all(procfs.name_of(pid).startswith("postgres") for pid in pids) else []


@contextmanager
def database(place: Path, *, sqlite: bool, of: str = "bench") -> Iterator[Database]:
    """Make an empty database and drop it at the end: PostgreSQL or, without it, SQLite."""
    url = os.environ.get("TEST_DATABASE_URL", DEFAULT_DATABASE)
    note = ""
    if not sqlite:
        try:
            maintenance = psycopg.connect(url, autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            note = (
                f"PostgreSQL does not answer, so this is SQLite ({reason}). TEST_DATABASE_URL names a server."
            )
        else:
            with maintenance:
                yield from _postgresql(maintenance, url, of)
            return
    version = f"SQLite {sqlite3.sqlite_version}"
    settings = {"journal_mode": "WAL", "synchronous": "FULL"}
    yield Database(f"sqlite:///{place / 'bench.sqlite3'}", version, settings, note)


def _postgresql(maintenance: psycopg.Connection, url: str, of: str) -> Iterator[Database]:
    name = f"gatehouse_{of}_{os.getpid()}"
    maintenance.execute(f'CREATE DATABASE "{name}"')
    try:
        settings = {}
        for setting in ("fsync", "synchronous_commit", "shared_buffers"):
            row = maintenance.execute(f"SHOW {setting}").fetchone()
            settings[setting] = str(row[0]) if row else ""
        version = str(maintenance.info.server_version)
        yield Database(
            urlsplit(url)._replace(path=f"/{name}", query="").geturl(),
            f"PostgreSQL {version[:-4]}.{int(version[-4:])}",
            settings,
            watch=maintenance,
        )
    finally:
        maintenance.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def place() -> Iterator[Path]:
    """Make a directory for everything the product writes, and remove it at the end."""
    path = Path(tempfile.mkdtemp(prefix="gatehouse-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def inherited() -> dict[str, str]:
    """Return what every program needs of our own environment."""
    return {
        name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(("PG", "LC_"))
    }


def environment(place: Path, database_url: str) -> dict[str, str]:
    """Return the environment of a production start, on loopback."""
    port = free_port()
    tuned = {name: os.environ[name] for name in TUNABLE if name in os.environ}
    return (
        inherited()
        | {"WEB_CONCURRENCY": WORKERS}
        | tuned
        | {
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEBUG": "false",
            "VAR_DIR": str(place),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "BASE_URL": f"http://127.0.0.1:{port}",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "ADMIN_PASSWORD": secrets.token_urlsafe(16),
            "DATABASE_URL": database_url,
            # Everybody comes from one address, far more often than people do. It is counted all the same.
            "LIMIT_ADDRESS_SIGN_INS": "1000000000",
            "LIMIT_ADDRESS_NEW_PARKED_REQUESTS": "1000000000",
            "LIMIT_ADDRESS_PARKED_REQUESTS": "1000000000",
            "LOCK_PAIR_FAILURES": "1000000",
            "LOCK_IDENTIFIER_FAILURES": "1000000",
        }
    )


def seed(environment: dict[str, str]) -> dict[str, Any]:
    """Migrate and fill the database; return what clients have to know."""
    world: dict[str, Any] = json.loads(
        output_of([sys.executable, str(BENCH / "seed.py")], environment, within=300)
    )
    return world


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers: a process, or one with workers under it."""

    process: subprocess.Popen[str]
    port: int
    first_answer: float

    def processes(self) -> list[int]:
        """Return the master and its workers."""
        return procfs.family_of(self.process.pid) if procfs.AVAILABLE else []

    def workers(self) -> list[int]:
        """Return those who do the work, without what hashes for them."""
        everybody = self.processes()
        return [pid for pid in everybody if procfs.parent_of(pid) == self.process.pid] or everybody


@contextmanager
def server(environment: dict[str, str], *, floor: bool = False) -> Iterator[Server]:
    """Serve as production does, or serve nothing in the same way: the ``floor``."""
    port = free_port() if floor else int(environment["PORT"])
    command = [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn"]
    if floor:
        command += ["--pythonpath", str(BENCH), "--bind", f"127.0.0.1:{port}", "floor:application"]
    log_path = Path(environment["VAR_DIR"]) / "server.log"
    with answering(command, environment, port, "/" if floor else _DISCOVERY, log_path) as running:
        yield running


@contextmanager
def answering(
    command: list[str], environment: dict[str, str], port: int, path: str, log_path: Path
) -> Iterator[Server]:
    """Run a server that listens at a port, from its first answer on."""
    with log_path.open("a") as log:
        began = time.perf_counter()
        process = start(command, environment, stdout=log, stderr=log)
    try:
        _wait_for(process, port, path, log_path)
        yield Server(process, port, time.perf_counter() - began)
    finally:
        stop(process)


def _wait_for(process: subprocess.Popen[str], port: int, path: str, log_path: Path) -> None:
    deadline = time.perf_counter() + _PATIENCE
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            raise Failed(f"the server ended:\n{log_path.read_text()[-3000:]}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
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
    raise Failed(f"the server did not answer within {_PATIENCE} s")
