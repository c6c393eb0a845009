"""A backup of a running system, restored elsewhere as docs/deployment.md says."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.support import independent, second, server

pytestmark = pytest.mark.skipif(
    not os.environ.get("GATEHOUSE_THOROUGH"), reason="copies a whole database: only with GATEHOUSE_THOROUGH=1"
)


@contextmanager
def restored(folder: Path) -> Iterator[str]:
    """Copy the database of the run, and yield the address of the copy."""
    if connection.vendor == "sqlite":
        copy = folder / "restored.sqlite3"
        with (
            closing(sqlite3.connect(str(settings.DATABASES["default"]["NAME"]))) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        yield f"sqlite:///{copy}"
        return
    name = f"gatehouse_restored_{second.free_port()}"
    base = server.maintenance_url().rpartition("/")[0]
    archive = folder / "gatehouse.dump"
    dump = [_program("pg_dump"), "--format=custom", f"--file={archive}"]
    subprocess.run([*dump, f"{base}/{settings.DATABASES['default']['NAME']}"], check=True)
    with server.maintenance() as postgres:
        postgres.execute(f'CREATE DATABASE "{name}"')
    try:
        subprocess.run([_program("pg_restore"), f"--dbname={base}/{name}", archive], check=True)
        yield f"{base}/{name}"
    finally:
        with server.maintenance() as postgres:
            postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _program(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"{name} is not there (Debian: apt install postgresql-client)")


def test_fault_R11_what_it_had_is_back_and_what_ended_since_does_not_come_back_to_life(acme, tmp_path):
    client, user = acme.application(), acme.user()
    browser = acme.browser()
    used = browser.code_for(client, user)
    kept, moved = (client.redeem(code).json() for code in (used, browser.code_for(client, user)))

    with restored(tmp_path) as url:
        later = client.refresh(client.refresh(moved["refresh_token"]).json()["refresh_token"]).json()

        with second.running(DATABASE_URL=url) as address:
            client.world = world = acme.at(address)
            assert world.browser().sign_in(user).status_code == 200
            assert independent.header_of(kept["id_token"])["kid"] in independent.kids(world)
            assert client.refresh(kept["refresh_token"]).status_code == 200
            # A generation that the backup never saw: nobody can tell who has which, so the family ends.
            assert client.refresh(later["refresh_token"]).json()["error"] == "invalid_grant"
            assert client.refresh(moved["refresh_token"]).json()["error"] == "invalid_grant"
            assert client.redeem(used).json()["error"] == "invalid_grant"
