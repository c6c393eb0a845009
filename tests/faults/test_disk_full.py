"""R4: the disk of the database is full, and has room again."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support import postgres_server, stage
from tests.support.independent import bearer
from tests.support.installation import Installation, check_nothing_is_lost, check_one_branch
from tests.support.packages import lacking
from tests.support.witness import UNAVAILABLE, Witness

_SIZE = "96m"


@contextmanager
def small_disk() -> Iterator[Path]:
    """Yield a file system of a few megabytes."""
    with postgres_server.folder() as folder:
        disk = folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(disk)],  # noqa: S607 - Linux
            check=False,
            capture_output=True,
        )
        if mounted.returncode:
            lacking("right to mount a file system", "run it as root")
        try:
            postgres_server.own(disk)
            yield disk
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)  # noqa: S607 - as above


def fill(disk: Path) -> Path:
    """Leave no room at all."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (2**20, 2**12):
            block = b"x" * size
            try:
                while True:
                    file.write(block)
            except OSError:
                continue
    return ballast


def survive(seen: Witness, disk: Path) -> float:
    """Fill the disk under load, make room again, and return how long the recovery took."""
    with seen.going(seen.refreshing, seen.creating, seen.signing_in, seen.reading, each=2):
        ballast = fill(disk)
        full = time.monotonic()
        deadline = full + 60
        while seen.count(UNAVAILABLE) < 10:
            assert time.monotonic() < deadline, f"nothing was refused: {seen.summary()}"
            time.sleep(0.1)
            if disk.joinpath("ballast").exists():
                fill_rest(disk)
        assert_reads_go_on(seen)
        ballast.unlink()
        free = time.monotonic()
        seen.goes_on(40)
    assert seen.wrong(UNAVAILABLE) == []
    return seen.recovery(free)


def fill_rest(disk: Path) -> None:
    with (disk / "ballast").open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 2**12)
        except OSError:
            return


def assert_reads_go_on(seen: Witness) -> None:
    access_token = seen.tokens[0]
    with httpx.Client(base_url=seen.addresses[0], timeout=30) as http:
        for _ in range(5):
            assert http.get("/.well-known/jwks.json").status_code == 200
            assert http.get("/.well-known/openid-configuration").status_code == 200
            assert http.get("/oidc/userinfo", headers=bearer(access_token)).status_code == 200


def test_fault_R4_the_disk_of_sqlite_is_full(measured):
    with small_disk() as disk, ExitStack() as running:
        path = disk / "gatehouse.sqlite3"
        common = {"DJANGO_SETTINGS_MODULE": "config.settings", "TEST_STATEMENTS_FILE": os.devnull}
        environment = common | {"DATABASE_URL": f"sqlite:///{path}"}
        for command in (["migrate", "--verbosity=0"], ["bootstrap"]):
            stage.manage(environment, *command)
        installation = Installation(environment["DATABASE_URL"], "", None, running, common)
        installation.serve()
        seen = installation.witness()
        with seen.going(seen.signing_in):
            pass

        recovery = survive(seen, disk)

        measured(answers=seen.summary(), recovery=round(recovery, 2))
        assert recovery < 5
        with closing(sqlite3.connect(path)) as reader:
            made = {name for (name,) in reader.execute("SELECT username FROM users_user")}
            assert set(seen.shop.created) <= made
            [(entries,)] = reader.execute("SELECT count(*) FROM audit_entry WHERE key = 'User.Create'")
            assert entries == len(made)
            for family in seen.families:
                key = family.id.replace("-", "")
                [(generation,)] = reader.execute(
                    "SELECT generation FROM grants_refreshfamily WHERE id = ?", [key]
                )
                assert family.generation <= generation <= family.generation + 1
            assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                reader.execute("DELETE FROM audit_entry")
        check_one_branch(seen)


def test_fault_R4_the_disk_of_postgresql_is_full(installation, measured):
    database = installation.url.rpartition("/")[2]
    with small_disk() as disk:
        with installation.server.connect() as superuser:
            superuser.execute(f"CREATE TABLESPACE {database} LOCATION '{disk}'")
            superuser.execute(f"ALTER DATABASE {database} SET TABLESPACE {database}")
        try:
            installation.serve()
            seen = installation.witness()
            with seen.going(seen.signing_in):
                pass

            recovery = survive(seen, disk)

            measured(answers=seen.summary(), recovery=round(recovery, 2))
            assert recovery < 5
            check_nothing_is_lost(seen, installation.query)
            check_one_branch(seen)
            installation.server.check(database)
        finally:
            installation.running.close()
            with installation.server.connect() as superuser:
                superuser.execute(f"DROP DATABASE {database} WITH (FORCE)")
                superuser.execute(f"DROP TABLESPACE {database}")
