"""A database with the two roles of docs/deployment/roles.sql: one owns, one serves."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from django.conf import settings
from psycopg import sql

from tests.support import server, stage
from tests.support.packages import lacking

FILE = settings.BASE_DIR / "docs/deployment/roles.sql"


@dataclass(frozen=True)
class Roles:
    """The addresses of the database for each role, and their names."""

    owner: str
    serving: str
    owner_role: str
    serving_role: str

    @property
    def migrating(self) -> dict[str, str]:
        """The environment of ``migrate``."""
        return {"DATABASE_URL": self.owner, "DATABASE_SERVING_ROLE": self.serving_role}

    def as_owner(self) -> psycopg.Connection:
        return psycopg.connect(self.owner, autocommit=True)

    def as_serving(self) -> psycopg.Connection:
        return psycopg.connect(self.serving, autocommit=True)


@contextmanager
def database(name: str, *, migrated: bool = False) -> Iterator[Roles]:
    """Make a database, and run the documented file in it with role names of this test.

    The database is empty, or has tables that a superuser created.
    """
    suffix = secrets.token_hex(4)
    owner, serving = f"gatehouse_owner_{suffix}", f"gatehouse_serving_{suffix}"
    with stage.database(name, migrated=migrated) as url:
        passwords = run_file(url, owner, serving)
        host = url.partition("@")[2]
        try:
            yield Roles(
                f"postgres://{owner}:{passwords['OWNER_PASSWORD']}@{host}",
                f"postgres://{serving}:{passwords['SERVING_PASSWORD']}@{host}",
                owner,
                serving,
            )
        finally:
            _drop(url, owner, serving)


def run_file(url: str, owner: str, serving: str) -> dict[str, str]:
    """Run the documented file, and return the passwords that it was given."""
    psql = shutil.which("psql")
    if psql is None:
        lacking("psql", "Debian: apt install postgresql-client")
    text = FILE.read_text().replace("gatehouse_owner", owner).replace("gatehouse_serving", serving)
    passwords = {name: secrets.token_urlsafe(16) for name in ("OWNER_PASSWORD", "SERVING_PASSWORD")}
    done = subprocess.run(
        [str(psql), "--quiet", "--no-psqlrc", url],
        input=text,
        env=os.environ | passwords,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return passwords


def _drop(url: str, owner: str, serving: str) -> None:
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY (%s)",
            [[owner, serving]],
        )
        superuser.execute(sql.SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(sql.Identifier(owner)))
        for role in (serving, owner):
            superuser.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
    with server.maintenance() as superuser:
        for role in (serving, owner):
            superuser.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
