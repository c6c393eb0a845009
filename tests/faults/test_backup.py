"""R11: a backup is taken while everybody writes, and restored elsewhere."""

import os
import sqlite3
import subprocess
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx

from tests.support import postgres_server, stage
from tests.support.installation import Installation
from tests.support.witness import Witness


def test_fault_R11_a_backup_of_postgresql_under_load(installation, measured, tmp_path):
    installation.serve()
    seen = installation.witness()
    source = installation.server.url(installation.url.rpartition("/")[2])
    restored = f"{source.rpartition('/')[2]}_restored"
    archive = tmp_path / "gatehouse.dump"

    with seen.going(seen.refreshing, seen.signing_in, seen.creating, each=2):
        seen.goes_on(60)
        acknowledged = set(seen.shop.created)
        dump = [postgres_server.program("pg_dump"), "--format=custom", f"--file={archive}", source]
        subprocess.run(dump, check=True)
        seen.goes_on(60)
    with installation.server.connect() as superuser:
        superuser.execute(f'CREATE DATABASE "{restored}"')
    began = time.monotonic()
    target = installation.server.url(restored)
    subprocess.run([postgres_server.program("pg_restore"), f"--dbname={target}", archive], check=True)
    seconds = time.monotonic() - began

    measured(acknowledged=len(acknowledged), restored_in=round(seconds, 1), answers=seen.summary())
    assert seen.wrong() == []
    copy = Installation(target, target, installation.server, installation.running, installation.environment)
    users = {name for (name,) in copy.query("SELECT username FROM users_user")}
    assert acknowledged <= users
    assert copy.query("SELECT count(*) FROM audit_entry WHERE key = 'User.Create'") == [(len(users),)]
    installation.server.check(restored)
    serving = installation.url.rpartition("/")[0]
    installation.serve(DATABASE_URL=f"{serving}/{restored}")
    with httpx.Client(base_url=installation.nodes[-1].address, timeout=30) as http:
        assert http.get("/readyz").json() == {"status": "ok"}
        sign_in_and_refresh(seen, http)
    with installation.server.connect() as superuser:
        superuser.execute(f'DROP DATABASE "{restored}" WITH (FORCE)')


def test_fault_R11_a_backup_of_sqlite_under_load(database, measured, tmp_path):
    path, copy = tmp_path / "gatehouse.sqlite3", tmp_path / "copy.sqlite3"
    common = {"DJANGO_SETTINGS_MODULE": "config.settings", "TEST_STATEMENTS_FILE": os.devnull}
    for command in (["migrate", "--verbosity=0"], ["bootstrap"]):
        stage.manage(common | {"DATABASE_URL": f"sqlite:///{path}"}, *command)
    with ExitStack() as running:
        installation = Installation(f"sqlite:///{path}", "", None, running, common)
        installation.serve()
        seen = installation.witness()
        with seen.going(seen.refreshing, seen.signing_in, seen.creating, each=2):
            acknowledged = set(seen.shop.created)
            back_up(path, copy)
            seen.goes_on(40)

        measured(acknowledged=len(acknowledged), answers=seen.summary())
        assert seen.wrong() == []
        with closing(sqlite3.connect(copy)) as reader:
            users = {name for (name,) in reader.execute("SELECT username FROM users_user")}
            assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert acknowledged <= users
        installation.serve(DATABASE_URL=f"sqlite:///{copy}")
        with httpx.Client(base_url=installation.nodes[-1].address, timeout=30) as http:
            sign_in_and_refresh(seen, http)


def back_up(path: Path, copy: Path) -> None:
    """What ``.backup`` of the sqlite3 program does."""
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def sign_in_and_refresh(seen: Witness, http: httpx.Client) -> None:
    """What every customer does, at the restored installation."""

    def send(method: str, path: str, *, status: int = 200, **options: Any) -> httpx.Response:
        answer = http.request(method, path, **options)
        assert answer.status_code == status, answer.text
        return answer

    seen.shop.refresh(send, seen.shop.sign_in(send))
