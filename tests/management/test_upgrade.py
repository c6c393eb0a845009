"""``manage.py migrate`` and ``preflight``, with an app of two releases on a database of its own."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import psycopg
import pytest
from django.conf import settings
from django.db import NotSupportedError, OperationalError, connection, connections

from management.upgrades import pending, preflight, presence, rights
from management.upgrades.pending import Pending
from tests.support import second, server
from tests.support.threads import THOROUGH, wait_until

_SETTINGS = """
from config.settings import *
INSTALLED_APPS = ["management", "management.upgrades", "shop"]
ROOT_URLCONF, MIDDLEWARE, TEMPLATES = "shop.models", [], []
CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"
"""
_MODELS = """
from django.db import models
urlpatterns = []
class Good(models.Model):
    name = models.CharField(max_length=64)
"""
_HEAD = """
from database.online_index import AddIndexOnline
from django.db import migrations, models
class Migration(migrations.Migration):
"""
_FIRST = """
    initial = True
    operations = [migrations.CreateModel("Good", [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=64)),
        ("old", models.IntegerField(null=True)),
    ])]
"""
_INDEX = """
    kind, atomic = "expand", False
    dependencies = [("shop", "0001_initial")]
    operations = [AddIndexOnline("good", models.Index(fields=["name"], name="good_name"))]
"""
_SLOW = """
    kind = "expand"
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.CreateModel("Shelf", [("id", models.BigAutoField(primary_key=True))]),
        migrations.RunSQL("SELECT pg_sleep(60)", migrations.RunSQL.noop),
    ]
"""
_CONTRACT = """
    kind, completes = "contract", [("shop", "0001_initial")]
    dependencies = [("shop", "0002_index")]
    operations = [migrations.RemoveField("good", "old")]
"""
_NEXT = """
    kind = "expand"
    dependencies = [("shop", "0003_contract")]
    operations = [migrations.AddField("good", "size", models.IntegerField(null=True))]
"""


@dataclass
class Shop:
    """A checkout of the app and its database."""

    folder: Path
    url: str

    def has(self, **files: str) -> None:
        """Bring out migrations by their names; ``None`` for what an older checkout lacks."""
        for name, body in files.items():
            (self.folder / "shop" / "migrations" / f"{name.lstrip('_')}.py").write_text(_HEAD + body)

    def lacks(self, name: str) -> None:
        (self.folder / "shop" / "migrations" / f"{name}.py").unlink()

    def manage(self, *command: str) -> subprocess.CompletedProcess[str]:
        process = self.begin(*command)
        out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def begin(self, *command: str) -> "subprocess.Popen[str]":
        """Start a command, and do not wait for its end."""
        return subprocess.Popen(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *command],
            env=os.environ
            | {
                "DATABASE_URL": self.url,
                "DJANGO_SETTINGS_MODULE": "shop_settings",
                "PYTHONPATH": f"{self.folder}:{settings.BASE_DIR}",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def index_is_valid(self) -> bool:
        with psycopg.connect(self.url) as reader:
            query = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'good_name'::regclass"
            return reader.execute(query).fetchone() == (True,)

    def applied(self) -> dict[str, bool]:
        """The migrations that there are, and which of them are applied."""
        shown = self.manage("showmigrations", "shop").stdout.splitlines()[1:]
        return {line.split("]")[1].strip(): "[X]" in line for line in shown}

    def preflight(self, *arguments: str) -> tuple[int, dict[str, object]]:
        ended = self.manage("preflight", "--json", *arguments)
        return ended.returncode, json.loads(ended.stdout)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "shop" / "migrations").mkdir(parents=True)
    (tmp_path / "shop_settings.py").write_text(_SETTINGS)
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "models.py").write_text(_MODELS)
    (tmp_path / "shop" / "migrations" / "__init__.py").touch()
    if connection.vendor == "sqlite":
        made = Shop(tmp_path, f"sqlite:///{tmp_path}/shop.sqlite3")
        made.has(_0001_initial=_FIRST)
        yield made
        return
    name = f"gatehouse_shop_{second.free_port()}"
    with server.maintenance() as postgres:
        postgres.execute(f'CREATE DATABASE "{name}"')
        made = Shop(tmp_path, f"{server.maintenance_url().rpartition('/')[0]}/{name}")
        made.has(_0001_initial=_FIRST)
        try:
            yield made
        finally:
            postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_decision_R3_an_upgrade_goes_migrate_then_nodes_then_contract(shop):
    first = shop.manage("migrate")
    assert first.returncode == 0, first.stderr
    shop.has(_0002_index=_INDEX, _0003_contract=_CONTRACT)

    told = shop.preflight()
    first = shop.manage("migrate")

    assert told[0] == 0
    assert told[1]["pending"] == {
        "fresh": False,
        "unknown": [],
        "expand": [["shop", "0002_index"]],
        "contract": [["shop", "0003_contract"]],
        "behind": [],
    }
    assert first.returncode == 0, first.stderr
    assert "earlier releases need what they remove: shop.0003_contract" in first.stdout
    assert shop.applied() == {"0001_initial": True, "0002_index": True, "0003_contract": False}

    assert shop.manage("migrate", "--yes").returncode == 0
    assert all(shop.applied().values())
    assert "Nothing to do" in shop.manage("preflight").stdout


def test_decision_R3_nothing_is_taken_away_from_a_node_that_was_seen_a_moment_ago(shop):
    announce = ["shell", "--no-imports", "-c", "from management.upgrades import presence as p; p.announce()"]
    shop.manage("migrate")
    said = shop.manage(*announce)
    assert said.returncode == 0, said.stderr
    shop.has(_0002_index=_INDEX, _0003_contract=_CONTRACT.replace('0001_initial")]\n', '0002_index")]\n', 1))
    assert shop.manage("migrate").returncode == 0, "what only adds does not mind"

    refused = shop.manage("migrate", "--yes")

    assert refused.returncode == 1
    assert f"release {presence.release()}, " in refused.stderr
    assert "needs what shop.0003_contract removes" in refused.stderr
    assert shop.applied()["0003_contract"] is False
    assert "Serving:" in shop.manage("preflight").stdout
    [node] = shop.preflight("--yes")[1]["nodes"]
    assert node["needs"] == [["shop", "0003_contract"]]
    shop.manage(*announce)  # the node was replaced by one of this release
    assert shop.manage("migrate", "--yes").returncode == 0
    assert all(shop.applied().values())


thorough = pytest.mark.skipif(not THOROUGH, reason="starts many commands: only with GATEHOUSE_THOROUGH=1")


@thorough
def test_decision_R3_a_database_of_a_newer_release_is_refused_before_anything_is_done(shop):
    shop.has(_0002_index=_INDEX)
    shop.manage("migrate")
    shop.lacks("0002_index")

    code, told = shop.preflight()
    refused = shop.manage("migrate")

    assert code == 1
    assert "shop.0002_index" in str(told["refusals"])
    assert refused.returncode == 1
    assert "newer release" in refused.stderr


@thorough
def test_a_contract_that_was_forgotten_is_asked_about_before_anything_is_done(shop):
    shop.has(_0002_index=_INDEX)
    shop.manage("migrate")
    shop.has(_0003_contract=_CONTRACT, _0004_next=_NEXT)

    refused = shop.manage("migrate")

    assert refused.returncode == 1
    assert "try again with --yes" in refused.stderr
    assert shop.applied()["0004_next"] is False
    assert shop.manage("migrate", "--yes").returncode == 0
    assert all(shop.applied().values())


@thorough
def test_a_new_database_is_made_whole_at_once(shop):
    shop.has(_0002_index=_INDEX, _0003_contract=_CONTRACT, _0004_next=_NEXT)

    first = shop.manage("migrate")
    assert first.returncode == 0, first.stderr

    assert all(shop.applied().values())


@thorough
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer and no locks of tables")
class TestOnPostgreSQL:
    def test_a_table_that_others_hold_makes_it_give_up_and_what_was_begun_is_undone(self, shop):
        shop.manage("migrate")
        shop.has(_0002_next=_NEXT.replace("0003_contract", "0001_initial"))

        with psycopg.connect(shop.url) as holder:
            holder.execute("LOCK TABLE shop_good IN ACCESS SHARE MODE")
            refused = shop.manage("migrate", "--patience", "1")

        assert refused.returncode == 1
        assert "still locked after 1 seconds" in refused.stderr
        assert shop.applied()["0002_next"] is False
        assert shop.manage("migrate").returncode == 0

    def test_a_table_that_others_hold_for_a_while_is_asked_for_again_and_nobody_waits_behind_it(self, shop):
        """The holder reads for seconds. A writer waits meanwhile as long as --lock-timeout says."""
        shop.manage("migrate")
        shop.has(_0002_next=_NEXT.replace("0003_contract", "0001_initial"))

        with (
            psycopg.connect(shop.url) as holder,
            psycopg.connect(shop.url, autocommit=True) as writer,
            psycopg.connect(shop.url, autocommit=True) as watch,
        ):
            holder.execute("LOCK TABLE shop_good IN ACCESS SHARE MODE")
            migrating = shop.begin("migrate")
            for _ in range(2):
                waits_for(watch, "ALTER TABLE%")
                writer.execute("SET statement_timeout = '1500ms'")
                writer.execute("INSERT INTO shop_good (name) VALUES ('not held up')")
            holder.rollback()

        said = migrating.communicate(timeout=30)
        assert migrating.returncode == 0, said
        assert "retrying" in said[1]
        assert shop.applied()["0002_next"] is True

    def test_an_index_is_built_while_somebody_writes_and_an_interrupted_build_is_repeated(self, shop):
        shop.manage("migrate")
        shop.has(_0002_index=_INDEX)
        with psycopg.connect(shop.url, autocommit=True) as other:
            other.execute("CREATE INDEX good_name ON shop_good (name)")
            other.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'good_name'::regclass")
        with psycopg.connect(shop.url) as writer:
            writer.execute("INSERT INTO shop_good (name) VALUES ('written meanwhile')")
            migrating = shop.begin("migrate")
            writer.execute("SELECT pg_sleep(4)")
            writer.execute("INSERT INTO shop_good (name) VALUES ('and again')")

        said = migrating.communicate(timeout=30)
        assert migrating.returncode == 0, said
        assert shop.index_is_valid()

    def test_two_at_once_take_turns_even_while_an_index_is_built(self, shop):
        """Who builds an index waits for older statements, and one that waited for its turn would be one."""
        shop.manage("migrate")
        shop.has(_0002_index=_INDEX)
        with psycopg.connect(shop.url) as writer, psycopg.connect(shop.url, autocommit=True) as watch:
            writer.execute("INSERT INTO shop_good (name) VALUES ('written meanwhile')")
            both = [shop.begin("migrate"), shop.begin("migrate")]
            waits_for(watch, "CREATE INDEX%")
            writer.execute("SELECT pg_sleep(4)")

        said = [migrating.communicate(timeout=30) for migrating in both]
        assert [migrating.returncode for migrating in both] == [0, 0], said
        assert sorted("Applying shop.0002_index" in out for out, _ in said) == [False, True]
        assert shop.index_is_valid()

    @pytest.mark.parametrize(
        ("name", "body", "statement"),
        [
            ("0002_index", _INDEX, "CREATE INDEX%"),
            ("0002_slow", _SLOW, "SELECT pg_sleep%"),
        ],
    )
    def test_one_that_is_killed_stops_at_once_and_is_repeated(self, shop, name, body, statement):
        shop.manage("migrate")
        shop.has(**{name: body})
        with psycopg.connect(shop.url) as writer, psycopg.connect(shop.url, autocommit=True) as watch:
            writer.execute("INSERT INTO shop_good (name) VALUES ('written meanwhile')")
            killed = shop.begin("migrate")
            at_work = waits_for(watch, statement)
            killed.kill()
            killed.communicate()
            ended = wait_until(
                lambda: not watch.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [at_work]).rowcount
            )
            assert ended, "its statement goes on, and keeps the next migration out"

        assert shop.applied()[name] is False
        shop.has(**{name: body.replace("pg_sleep(60)", "1")})
        again = shop.manage("migrate")
        assert again.returncode == 0, again.stderr
        assert shop.applied()[name] is True


def waits_for(watch: psycopg.Connection, statement: str) -> int:
    """The backend that is at such a statement, once there is one."""
    found: list[int] = []

    def look() -> bool:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
            "AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE %s"
        )
        found[:] = [pid for (pid,) in watch.execute(query, [statement])]
        return bool(found)

    assert wait_until(look), f"nobody came to {statement}"
    return found[0]


def test_what_to_look_at_first_is_told(database, monkeypatch):
    found = Pending(fresh=False, unknown=[], expand=[("users", "0001_initial")], contract=[], behind=[])
    monkeypatch.setattr(preflight, "_BIG", 0)
    monkeypatch.setattr(preflight, "_LONG", -1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))

    if connection.vendor == "sqlite":
        said = preflight._on_sqlite(connection, found)
        assert "stop the node" in said[0]
        assert "0 MiB free" in said[1]
        return
    with psycopg.connect(
        server.maintenance_url().rpartition("/")[0] + f"/{connection.settings_dict['NAME']}"
    ) as other:
        other.execute("SELECT 1")
        said = preflight._on_postgresql(connection, found)
    assert "transactions are open" in said[0]
    assert any(line.startswith("users_user has") for line in said)


def test_what_the_role_may_not_change_is_told_before_anything_is_changed(database, monkeypatch):
    assert rights.find_missing(connection, {"users_user"}) == []
    if connection.vendor == "sqlite":
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert "this user cannot write to" in rights.find_missing(connection, {"users_user"})[0]
        return
    role = f"gatehouse_{secrets.token_hex(4)}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role}")
        try:
            cursor.execute(f"SET ROLE {role}")
            said = rights.find_missing(connection, {"users_user", "is_no_table"})
            cursor.execute("SET default_transaction_read_only = on")
            standby = rights.find_missing(connection, {"users_user"})
        finally:
            cursor.execute("RESET ALL; RESET ROLE")
            cursor.execute(f"DROP ROLE {role}")
    assert f"{role} may not create tables" in said[0]
    assert "users_user belongs to " in said[1]
    assert len(said) == 2
    assert "is read-only" in standby[0]


def test_a_database_that_does_not_answer_or_is_too_old_is_a_refusal_and_no_error(monkeypatch):
    for error, said in (
        (NotSupportedError("PostgreSQL 14 or later is required"), "too old"),
        (OperationalError("no"), "cannot be reached"),
    ):
        monkeypatch.setattr(connections["default"], "ensure_connection", mock.Mock(side_effect=error))
        assert said in preflight.check(connection).refusals[0]


@pytest.mark.parametrize(("version", "old"), [(130015, True), (140000, False), (170002, False), (0, True)])
def test_postgresql_before_14_is_too_old(version, old):
    assert preflight.is_too_old(version) is old


def test_a_node_of_this_release_is_ready_without_the_contracts(monkeypatch):
    every = pending.get_required_migrations()
    name = ("users", "0002_search_index")
    monkeypatch.setattr(
        pending, "is_contract", lambda migration: (migration.app_label, migration.name) == name
    )

    assert every - pending.get_required_migrations() == {name}
