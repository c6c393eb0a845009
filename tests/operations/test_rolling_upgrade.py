"""The release before serves while the next migrates the database and takes over, and nobody notices.

The next is what is checked out, with migrations on top that change the busiest tables, so that there
is something to migrate even right after a release. The release before is the last in
docs/releases.tsv; before the first it is what is checked out. It runs with the packages of today.
"""

import logging
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from management.upgrades import migration_lock
from tests.support import cast, customers, next_release, nodes, releases, stage
from tests.support.customers import Customers
from tests.support.independent import bearer
from tests.support.load import Load, Program
from tests.support.nodes import Cluster

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="several nodes share PostgreSQL"),
    pytest.mark.skipif(
        not os.environ.get("GATEHOUSE_THOROUGH"), reason="takes minutes: only with GATEHOUSE_THOROUGH=1"
    ),
]

USERS = int(os.environ.get("UPGRADE_USERS", "100000"))
ENTRIES = int(os.environ.get("UPGRADE_ENTRIES", "1000000"))
_logger = logging.getLogger(__name__)
LOCK_TIMEOUT = 0.5  # what migrate waits for a table at most, and others with it


def test_fault_R8_decision_R3_nobody_notices_an_upgrade(database, tmp_path):
    before, after = code_of_both(tmp_path)
    next_release.added_to(after)
    with stage.database(f"upgrade_{secrets.token_hex(4)}") as url:
        fill(before, url)
        run(after, url, "manage.py", "collectstatic", "--no-input", "--verbosity=0")
        with nodes.cluster(tmp_path, code=before, DATABASE_URL=url) as cluster:
            with cluster.client() as http:
                shop = customers.arrive(http, [f"user{number}" for number in range(100)])
            load = Load(cluster.address, cluster.trust, *programs(shop))
            with load.going():
                load.go_on()
                began = time.monotonic()
                with Locks.watched(url) as locks, a_long_look_at_the_log(url):
                    said = run(after, url, "manage.py", "migrate")
                ended = time.monotonic()
                load.go_on()
                for number, node in enumerate(cluster.nodes):
                    cluster.replace(node, after)
                    if number == 0:
                        each_reads_what_the_other_wrote(cluster, shop)
                        early = run(after, url, "manage.py", "migrate", "--yes", status=1)
                    load.go_on()
                for code in (before, after):  # an operator can go back, until the contract
                    cluster.replace(next(iter(cluster.nodes)), code)
                    load.go_on()
                late = run(after, url, "manage.py", "migrate", "--yes")
                load.go_on()
            tell(load, began, ended, locks)

            assert load.wrong == []
            assert "retrying" in said
            assert re.search("earlier releases need what they remove: .*_sample", said)
            assert re.search("was seen .* ago and needs what users.*_sample removes", early)
            assert re.search("Applying users.*_sample... OK", late)
            assert locks.longest < 2 * LOCK_TIMEOUT
            check_nothing_is_lost(url, shop)


def code_of_both(folder: Path) -> tuple[Path, Path]:
    version = releases.last_release()
    before = folder / "before"
    before = releases.code_of(version, before) if version else releases.code_of_now(before)
    return before, releases.code_of_now(folder / "after")


def run(code: Path, url: str, *command: str, status: int = 0) -> str:
    """Run a program of some code, and return all that it says."""
    own = {"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": url, "VAR_DIR": str(code / "var")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=code,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def fill(code: Path, url: str) -> None:
    """Make the schema of some code, and put years of use into it."""
    unused = shutil.ignore_patterns("peer", "results", "__pycache__")
    shutil.copytree(settings.BASE_DIR / "bench", code / "bench", ignore=unused, dirs_exist_ok=True)
    size = ["--users", str(USERS), "--entries", str(ENTRIES)]
    run(code, url, "-m", "bench", "fill", "--database-url", url, *size, "--password", cast.PASSWORD)
    run(code, url, "manage.py", "collectstatic", "--no-input", "--verbosity=0")


def programs(shop: Customers) -> list[Program]:
    return [shop.asking_for_tokens, shop.refreshing, shop.refreshing, shop.signing_in, shop.managing]


class Locks:
    """How long other sessions waited for the migration, looked at all the time."""

    _QUERY = """
        SELECT extract(epoch FROM clock_timestamp() - waiting.waitstart)::float8 FROM pg_locks AS waiting
        WHERE NOT waiting.granted AND EXISTS (SELECT FROM pg_locks AS migration
            WHERE migration.locktype = 'advisory' AND migration.objid = %s AND migration.granted
            AND migration.pid = ANY (pg_blocking_pids(waiting.pid)))
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self._over = Event()

    @classmethod
    @contextmanager
    def watched(cls, url: str) -> Iterator["Locks"]:
        locks = cls()
        thread = Thread(target=locks._watch, args=(url,))
        thread.start()
        try:
            yield locks
        finally:
            locks._over.set()
            thread.join()

    def _watch(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as looking:
            while not self._over.wait(0.02):
                for (seconds,) in looking.execute(self._QUERY, [migration_lock.KEY]).fetchall():
                    self.longest = max(self.longest, seconds or 0)


@contextmanager
def a_long_look_at_the_log(url: str) -> Iterator[None]:
    """Read the log in one transaction, as a report does, until the migration has waited for it once."""

    def look() -> None:
        wanted = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'audit_entry'::regclass"
        with psycopg.connect(url) as reader, psycopg.connect(url, autocommit=True) as other:
            reader.execute("SELECT FROM audit_entry LIMIT 1")
            deadline = time.monotonic() + 60
            while not other.execute(wanted).rowcount and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(2 * LOCK_TIMEOUT)

    thread = Thread(target=look)
    thread.start()
    yield
    thread.join()


def each_reads_what_the_other_wrote(cluster: Cluster, shop: Customers) -> None:
    with ExitStack() as opened:
        through_nginx = opened.enter_context(cluster.client())
        new, old = (opened.enter_context(httpx.Client(base_url=f"http://{node}")) for node in cluster.nodes)
        tokens = shop.sign_in(answered(through_nginx))
        for one, other in ((new, old), (old, new)) * 3:
            tokens = shop.refresh(answered(one), tokens)
            answered(other)("GET", "/oidc/userinfo", headers=bearer(tokens["access_token"]))
            path = shop.create(answered(one))
            headers = bearer(shop.administrator)
            answered(other)("PATCH", path, json={"name": "Changed"}, headers=headers)
            assert answered(one)("GET", path, headers=headers).json()["result"]["name"] == "Changed"


def answered(http: httpx.Client) -> Callable[..., httpx.Response]:
    def send(method: str, path: str, *, status: int = 200, **options: Any) -> httpx.Response:
        answer = http.request(method, path, **options)
        assert answer.status_code == status, answer.text
        return answer

    return send


def check_nothing_is_lost(url: str, shop: Customers) -> None:
    with psycopg.connect(url) as reader:

        def one(query: str, *values: object) -> Any:
            row = reader.execute(query, values).fetchone()
            return row and row[0]

        stored = "SELECT count(*) FROM users_user WHERE username = ANY (%s)"
        assert one(stored, shop.created) == len(shop.created) > 0
        # Who is told of a token is in the log: not once less, and not twice.
        assert (
            one("SELECT count(*) FROM audit_entry WHERE application_id = %s", shop.machine_id) == shop.issued
        )
        assert one("SELECT count(*) FROM audit_entry") > ENTRIES
        assert one("SELECT count(*) FROM users_user WHERE sample IS DISTINCT FROM 7") == 0
        valid = "SELECT count(*) FROM pg_index WHERE indisvalid AND indexrelid::regclass::text = ANY (%s)"
        assert one(valid, ["sample_of_entries", "sample_of_users"]) == 2


def tell(load: Load, began: float, ended: float, locks: Locks) -> None:
    """Say what was seen, for ``pytest --log-cli-level=INFO``."""
    beside = load.between(began, ended)
    _logger.info("%d requests, %d of them wrong", len(load.sent), len(load.wrong))
    _logger.info("%.1f s for migrate, with %d requests beside it", ended - began, len(beside))
    for program in sorted({sent.program for sent in beside}):
        times = sorted(sent.seconds for sent in beside if sent.program == program)
        _logger.info("%s: %.2f s in the middle, %.2f s at most", program, times[len(times) // 2], times[-1])
    _logger.info("%.2f s was the longest wait for the migration", locks.longest)
