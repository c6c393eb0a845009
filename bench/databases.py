"""Databases that exist as long as a measurement: PostgreSQL or, without it, SQLite."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg

from bench import procfs

_DEFAULT_URL: Final = "postgres://postgres@127.0.0.1:5432/postgres"


@dataclass(frozen=True, slots=True)
class Database:
    """A database that is measured, and its version and settings for the report."""

    url: str
    version: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    note: str = ""
    observer: psycopg.Connection | None = None

    def processes(self) -> list[int]:
        """Return the processes that serve this database, if they run on this machine.

        Processes that write for all databases of the server are included.
        """
        if self.observer is None:
            return []
        rows = self.observer.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
            " OR backend_type IN ('walwriter', 'background writer', 'checkpointer')",
            [urlsplit(self.url).path[1:]],
        )
        pids = [int(pid) for (pid,) in rows]
        return pids if all(procfs.name_of(pid).startswith("postgres") for pid in pids) else []


@contextmanager
def new_database(folder: Path, *, sqlite: bool = False, name: str = "bench") -> Iterator[Database]:
    """Create an empty database and drop it at the end."""
    url = os.environ.get("TEST_DATABASE_URL", _DEFAULT_URL)
    note = ""
    if not sqlite:
        try:
            maintenance = psycopg.connect(url, autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            note = f"PostgreSQL does not answer, so this is SQLite ({reason}). Set TEST_DATABASE_URL."
        else:
            with maintenance:
                yield from _new_postgresql(maintenance, url, f"gatehouse_{name}_{os.getpid()}")
            return
    yield Database(
        f"sqlite:///{folder / 'bench.sqlite3'}",
        f"SQLite {sqlite3.sqlite_version}",
        (("journal_mode", "WAL"), ("synchronous", "FULL")),
        note,
    )


def _new_postgresql(maintenance: psycopg.Connection, url: str, name: str) -> Iterator[Database]:
    maintenance.execute(f'CREATE DATABASE "{name}"')
    try:
        rows = maintenance.execute(
            "SELECT name, current_setting(name) FROM pg_settings"
            " WHERE name IN ('fsync', 'synchronous_commit', 'shared_buffers')"
        )
        settings = tuple((str(setting), str(value)) for setting, value in rows)
        version = str(maintenance.info.server_version)
        yield Database(
            urlsplit(url)._replace(path=f"/{name}", query="").geturl(),
            f"PostgreSQL {version[:-4]}.{int(version[-4:])}",
            settings,
            observer=maintenance,
        )
    finally:
        maintenance.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
