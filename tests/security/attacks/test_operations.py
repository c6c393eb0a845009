"""What somebody does who can run statements as the role that serves, by a flaw in SQL."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest
from django.db import connection

from tests.support import customers, database_roles, second, server, stage
from tests.support.cast import PASSWORD
from tests.support.customers import Customers
from tests.support.database_roles import Roles
from tests.support.independent import bearer

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no roles")

_LONG_AGO = "now() - interval '400 days'"
_TABLES = ("audit_entry", "audit_retention", "audit_counted", "audit_stretch", "audit_day")


@dataclass(frozen=True)
class Installation:
    """A server that connects as the serving role, and what its environment is."""

    roles: Roles
    environment: dict[str, str]
    http: httpx.Client
    shop: Customers

    def send(self, method: str, path: str, *, status: int = 200, **options: Any) -> httpx.Response:
        answer = self.http.request(method, path, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    def manage(self, *command: str) -> str:
        """Run a command as the owner."""
        return stage.manage(self.environment | self.roles.migrating, *command)


@pytest.fixture(scope="module")
def installation(database: None) -> Iterator[Installation]:
    port = str(second.free_port())
    address = f"http://127.0.0.1:{port}"
    environment = {"PORT": port, "BASE_URL": address, "DJANGO_SETTINGS_MODULE": "config.settings"}
    with ExitStack() as running:
        roles = running.enter_context(database_roles.database(f"roles_{port}"))
        for command in (["migrate", "--verbosity=0"], ["bootstrap"]):
            stage.manage(environment | roles.migrating, *command)
        running.enter_context(server.running(**environment, DATABASE_URL=roles.serving, WEB_CONCURRENCY="1"))
        http = running.enter_context(httpx.Client(base_url=address, timeout=30))
        shop = customers.arrive(http, ["ada"])
        made = Installation(roles, environment, http, shop)
        body = {"username": "ada", "password": PASSWORD}
        made.send("POST", "/api/v1/users", json=body, headers=bearer(shop.administrator))
        yield made


def test_decision_N15_the_serving_role_serves(installation):
    """Everything that customers and operators do, tenants that come and go included."""
    send, shop = installation.send, installation.shop
    headers = bearer(shop.administrator)

    tokens = shop.refresh(send, shop.sign_in(send))
    send("GET", "/oidc/userinfo", headers=bearer(tokens["access_token"]))
    path = shop.create(send)
    send("PATCH", path, json={"name": "Changed"}, headers=headers)
    send("DELETE", path, headers=headers)
    send("POST", "/api/v1/signing-keys/rotate", headers=headers)
    tenant = {"slug": "beta", "name": "Beta", "audit_retention_days": 90}
    made = send("POST", "/api/v1/tenants", json=tenant, headers=headers).json()["result"]
    send("PATCH", f"/api/v1/tenants/{made['id']}", json={"audit_retention_days": 60}, headers=headers)
    send("DELETE", f"/api/v1/tenants/{made['id']}", headers=headers)
    logs = send("GET", "/api/v1/logs?page_size=50", headers=headers).json()["result"]
    assert logs["total"] > 5
    assert send("GET", "/readyz").json() == {"status": "ok"}


def test_decision_N15_late_entries_are_counted_although_the_role_may_not_write_that(installation):
    with installation.roles.as_serving() as serving:
        serving.execute(
            "INSERT INTO audit_counted VALUES ('late', now(), 0); "
            "INSERT INTO audit_stretch VALUES ('late', now(), 0)"
        )
        serving.execute(_an_entry("late", "now() - interval '1 hour'"))

        counted = serving.execute(
            "SELECT counted.entries, stretch.entries FROM audit_counted AS counted "
            "JOIN audit_stretch AS stretch USING (tenant_id) WHERE tenant_id = 'late'"
        ).fetchone()

    assert counted == (1, 1)


def test_users_come_and_go_before_migrate_grants_the_tables_of_their_numbers(installation):
    """``migrate`` creates a table and its triggers first, while nodes serve, and grants it at the end."""
    send, headers = installation.send, bearer(installation.shop.administrator)
    numbers = ("users_usercount", "users_userdaycount")
    with installation.roles.as_owner() as owner:
        for table in numbers:
            owner.execute(f"REVOKE INSERT, UPDATE, DELETE ON {table} FROM {installation.roles.serving_role}")

        gone = installation.shop.create(send)
        installation.shop.create(send)
        send("DELETE", gone, headers=headers)

        [(users,)] = owner.execute("SELECT count(*) FROM users_user").fetchall()
        stored = [
            owner.execute(f"SELECT sum(users) FROM {table}").fetchone()  # noqa: S608 - no outside value
            for table in numbers
        ]
    installation.manage("migrate", "--verbosity=0")

    assert stored == [(users,), (users,)]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
        "ALTER TABLE audit_entry RENAME TO nothing",
        "ALTER TABLE audit_entry DROP COLUMN payload",
        "DROP TRIGGER audit_entry_no_change ON audit_entry",
        "DROP FUNCTION audit_entry_append_only() CASCADE",
        (
            "CREATE OR REPLACE FUNCTION audit_entry_append_only() RETURNS trigger LANGUAGE plpgsql "
            "AS 'BEGIN RETURN OLD; END'"
        ),
        "SET session_replication_role = replica",
        "DELETE FROM audit_entry",
        "UPDATE audit_entry SET payload = '{}'",
        "TRUNCATE audit_entry",
        "INSERT INTO audit_entry SELECT * FROM audit_entry ON CONFLICT (id) DO UPDATE SET payload = '{}'",
        "UPDATE audit_retention SET at_work = true",
        "DELETE FROM audit_stretch",
        "UPDATE audit_stretch SET entries = 0",
        "DELETE FROM audit_counted",
        "UPDATE audit_day SET active_users = 0",
        "CREATE TABLE mine ()",
        "CREATE TEMPORARY TABLE audit_retention ()",
        "DELETE FROM django_migrations",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "CREATE ROLE other",
        *(f"DROP TABLE {table}" for table in _TABLES),
    ],
)
def test_attack_AP10_a_statement_of_the_serving_role_switches_the_log_off(installation, statement):
    with (
        installation.roles.as_serving() as serving,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        serving.execute(statement)


def test_attack_AP10_a_temporary_table_in_the_place_of_the_retention(installation):
    """The owner may make temporary tables: the trigger must not look at one of that name."""
    with installation.roles.as_owner() as owner:
        owner.execute(_an_entry("kept", _LONG_AGO))
        owner.execute(
            "CREATE TEMPORARY TABLE audit_retention AS "
            "SELECT 'kept' AS tenant_id, 31 AS days, true AS at_work"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            owner.execute("DELETE FROM audit_entry WHERE tenant_id = 'kept'")


def test_decision_N15_purge_as_the_owner_forgets_what_a_tenant_does_not_keep(installation):
    with installation.roles.as_owner() as owner:
        owner.execute("INSERT INTO audit_retention VALUES ('gone', 31, false)")
        owner.execute(_an_entry("gone", _LONG_AGO))

    purged = json.loads(installation.manage("purge", "--json"))

    assert purged["rows"]["audit_entries"] == 1


class TestPurgeAsTheServingRole:
    """Only the owner deletes audit entries. The serving role deletes the other rows, and says so."""

    @pytest.fixture
    def serving(self, installation: Installation) -> dict[str, str]:
        return installation.environment | {"DATABASE_URL": installation.roles.serving}

    @pytest.fixture
    def kept(self, installation: Installation) -> Iterator[None]:
        with installation.roles.as_owner() as owner:
            owner.execute("INSERT INTO audit_retention VALUES ('short', 31, false)")
            owner.execute(_an_entry("short", _LONG_AGO))
            yield
            owner.execute("DELETE FROM audit_retention WHERE tenant_id = 'short'")

    def test_one_sentence_says_who_has_to_run_it_and_the_other_rows_are_deleted(
        self, installation, serving, kept
    ):
        installation.http.cookies.clear()
        installation.shop.sign_in(installation.send)
        with installation.roles.as_owner() as owner:
            owner.execute("UPDATE limits_counter SET ends_at = now() - interval '2 days'")

        done = stage.attempt(serving, "purge", "--json")

        assert done.returncode == 1
        answer = json.loads(done.stdout)
        assert (answer["complete"], answer["rows"]["audit_entries"]) == (False, 0)
        assert answer["rows"]["counters"] >= 1
        assert done.stderr == (
            "CommandError: Audit entries past their retention time were not deleted, because only the owner "
            "of the tables may delete them: run manage.py purge with the owner's DATABASE_URL "
            "(docs/operations.md, A timer).\n"
        )
        left = json.loads(installation.manage("purge", "--json"))
        assert (left["complete"], left["rows"]["audit_entries"]) == (True, 1)

    def test_counting_needs_no_right_of_the_owner(self, serving, kept):
        counted = json.loads(stage.manage(serving, "purge", "--json", "--dry-run"))

        assert counted["complete"]
        assert counted["rows"]["audit_entries"] >= 1

    def test_without_a_retention_nothing_is_left(self, installation, serving):
        with installation.roles.as_owner() as owner:
            owner.execute("DELETE FROM audit_retention")

        assert json.loads(stage.manage(serving, "purge", "--json"))["complete"]


def test_decision_N15_migrating_again_takes_away_what_was_granted_by_hand(installation):
    roles = installation.roles
    with roles.as_owner() as owner:
        owner.execute(f"GRANT ALL ON audit_entry TO {roles.serving_role}")

    installation.manage("migrate", "--verbosity=0")

    with roles.as_serving() as serving, pytest.raises(psycopg.errors.InsufficientPrivilege):
        serving.execute("DELETE FROM audit_entry")


class TestDoctor:
    def findings(self, installation: Installation, url: str) -> dict[str, str]:
        environment = installation.environment | {"DATABASE_URL": url}
        said = json.loads(stage.manage(environment, "doctor", "--json", status=None))
        return {finding["id"]: finding["level"] for finding in said["findings"]}

    def test_decision_N15_a_role_of_its_own_is_fine(self, installation):
        found = self.findings(installation, installation.roles.serving)

        assert not {"database.W007", "database.I008", "database.W009", "database.E010"} & found.keys()

    def test_attack_AP10_a_superuser_is_warned_of(self, installation):
        superuser = f"{server.maintenance_url().rpartition('/')[0]}/{_name(installation.roles.owner)}"

        assert self.findings(installation, superuser)["database.W007"] == "warning"

    def test_attack_AP10_the_owner_of_the_log_is_named(self, installation):
        assert self.findings(installation, installation.roles.owner)["database.I008"] == "info"

    def test_attack_AP10_rights_to_change_entries_are_warned_of(self, installation):
        roles = installation.roles
        with roles.as_owner() as owner:
            owner.execute(f"GRANT DELETE ON audit_entry TO {roles.serving_role}")
            owner.execute(f"REVOKE ALL ON users_user FROM {roles.serving_role}")
        try:
            found = self.findings(installation, roles.serving)
        finally:
            installation.manage("migrate", "--verbosity=0")

        assert found["database.W009"] == "warning"
        assert found["database.E010"] == "error"


def test_decision_N15_an_installation_with_one_role_moves(database):
    """Everything belonged to a superuser; the documented file and another ``migrate`` change that."""
    port = str(second.free_port())
    environment = {
        "PORT": port,
        "BASE_URL": f"http://127.0.0.1:{port}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    with database_roles.database(f"moved_{port}", migrated=True) as roles:
        superuser = f"{server.maintenance_url().rpartition('/')[0]}/{_name(roles.owner)}"
        database_roles.run_file(superuser, roles.owner_role, roles.serving_role)  # it may be repeated
        stage.manage(environment | roles.migrating, "migrate", "--verbosity=0")
        stage.manage(environment | roles.migrating, "bootstrap")

        with server.running(**environment, DATABASE_URL=roles.serving, WEB_CONCURRENCY="1") as address:
            assert httpx.get(f"{address}/readyz").json() == {"status": "ok"}
        with roles.as_serving() as serving, pytest.raises(psycopg.errors.InsufficientPrivilege):
            serving.execute("ALTER TABLE audit_entry DISABLE TRIGGER ALL")


def _an_entry(tenant_id: str, moment: str) -> str:
    columns = "id, tenant_id, key, payload, ip, user_agent, request_id, created_at"
    values = f"gen_random_uuid(), '{tenant_id}', 'User.Create', '{{}}', '', '', '', {moment}"
    return f"INSERT INTO audit_entry ({columns}) VALUES ({values})"  # noqa: S608 - our own values


def _name(url: str) -> str:
    return url.rpartition("/")[2]
