"""By whom the audit log can be changed: by nobody."""

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError, connection, transaction

from audit import log, triggers
from audit.events import Event
from audit.models import AppendOnly, Entry
from tests.support.audit_log import entries, last

MODEL_CHANGES = {
    "update": lambda _: Entry.objects.update(key="User.Delete"),
    "filtered update": lambda entry: Entry.objects.filter(pk=entry.pk).update(payload={}),
    "delete": lambda _: Entry.objects.all().delete(),
    "filtered delete": lambda entry: Entry.objects.filter(pk=entry.pk).delete(),
    "delete one": lambda entry: entry.delete(),
    "save": lambda entry: entry.save(),
    "save fields": lambda entry: entry.save(update_fields=["payload"]),
    "force update": lambda entry: Entry(pk=entry.pk, key="User.Delete").save(force_update=True),
    "same id again": lambda entry: Entry(pk=entry.pk, key="User.Delete", tenant_id="default").save(),
    "bulk update": lambda entry: Entry.objects.bulk_update([entry], ["key"]),
    "update or create": lambda entry: Entry.objects.update_or_create({"key": "User.Delete"}, pk=entry.pk),
    "upsert": lambda entry: Entry.objects.bulk_create(
        [Entry(pk=entry.pk, key="User.Delete", tenant_id="x")],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["key"],
    ),
    "base manager update": lambda entry: Entry._base_manager.filter(pk=entry.pk).update(key="User.Delete"),
    "base manager delete": lambda entry: Entry._base_manager.filter(pk=entry.pk).delete(),
    "raw delete": lambda entry: Entry.objects.filter(pk=entry.pk)._raw_delete("default"),
}


STATEMENTS = {
    "update": "UPDATE audit_entry SET key = 'x'",
    "update one": "UPDATE audit_entry SET payload = '{{}}' WHERE id = '{id}'",
    "update to itself": "UPDATE audit_entry SET key = key WHERE id = '{id}'",
    "delete": "DELETE FROM audit_entry",
    "delete one": "DELETE FROM audit_entry WHERE id = '{id}'",
    "upsert": (
        "INSERT INTO audit_entry (id, tenant_id, key, payload, ip, user_agent, request_id)"
        " VALUES ('{id}', 'x', 'x', '{{}}', '', '', '') ON CONFLICT (id) DO UPDATE SET key = 'x'"
    ),
}
SQLITE = {
    "replace": (
        "INSERT OR REPLACE INTO audit_entry (id, tenant_id, key, payload, ip, user_agent, request_id)"
        " VALUES ('{id}', 'x', 'x', '{{}}', '', '', '')"
    ),
    "replace by row": (
        "REPLACE INTO audit_entry (rowid, id, tenant_id, key, payload, ip, user_agent, request_id)"
        " SELECT rowid, 'another', 'x', 'x', '{{}}', '', '', '' FROM audit_entry WHERE id = '{id}'"
    ),
    "update or replace": "UPDATE OR REPLACE audit_entry SET key = 'x' WHERE id = '{id}'",
    "update or ignore": "UPDATE OR IGNORE audit_entry SET key = 'x' WHERE id = '{id}'",
}


POSTGRESQL = {
    "truncate": "TRUNCATE audit_entry",
    "truncate cascade": "TRUNCATE audit_entry RESTART IDENTITY CASCADE",
    "truncate with others": "TRUNCATE audit_entry, users_user CASCADE",
    "delete using": "DELETE FROM audit_entry USING tenants_tenant",
    "merge": (
        "MERGE INTO audit_entry e USING (SELECT '{id}'::uuid AS id) n ON e.id = n.id WHEN MATCHED THEN DELETE"
    ),
    "in a function": "DO $$ BEGIN DELETE FROM audit_entry; END $$",
}
STATEMENTS |= POSTGRESQL if connection.vendor == "postgresql" else SQLITE


@pytest.fixture
def entry(acme):
    with acme.active():
        log.record(Event.USER_CREATE, id="one", username="alice")
    return last(acme, "User.Create")


def stored(entry):
    """Return how many entries there are, and what an entry says."""
    found = Entry.objects.get(pk=entry.pk)
    return Entry.objects.count(), found.key, found.payload


class TestAppendOnly:
    """A2: nobody changes or deletes an entry."""

    @pytest.mark.parametrize("change", MODEL_CHANGES)
    def test_case_N01_not_by_the_orm(self, entry, change):
        count = Entry.objects.count()

        with pytest.raises((AppendOnly, DatabaseError, ValueError)), transaction.atomic():
            MODEL_CHANGES[change](entry)

        assert stored(entry) == (count, "User.Create", {"id": "one", "username": "alice"})

    @pytest.mark.parametrize("change", STATEMENTS)
    def test_case_N01_not_by_sql(self, entry, change):
        count = Entry.objects.count()
        text = STATEMENTS[change].format(id=entry.pk.hex if connection.vendor == "sqlite" else str(entry.pk))

        with connection.cursor() as cursor, pytest.raises(DatabaseError, match="append-only"):
            cursor.execute(text)

        assert stored(entry) == (count, "User.Create", {"id": "one", "username": "alice"})

    def test_entries_are_still_written(self, acme, entry):
        with acme.active():
            log.record(Event.USER_CREATE, id="two")

        assert len(entries(acme, "User.Create")) == 2

    def test_nor_when_the_tenant_is_deleted(self, rival):
        pk = rival.tenant.pk

        rival.tenant.delete()

        assert Entry.objects.filter(tenant_id=pk, key="Tenant.Create").exists()

    def test_no_endpoint_reaches_it(self):
        rows = (configured.BASE_DIR / "docs/endpoints.tsv").read_text().splitlines()[1:]
        written = [row for row in rows if "/logs" in row and not row.startswith("GET\t")]

        assert written == []


class TestTriggers:
    @pytest.fixture(autouse=True)
    def _always_there_again(self, address):
        yield
        triggers.APPEND_ONLY.install(connection)

    def drop(self, name):
        table = " ON audit_entry" if connection.vendor == "postgresql" else ""
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER {name}{table}")

    def names(self):
        return sorted(triggers.APPEND_ONLY.names(connection.vendor))

    def test_the_check_is_content_while_they_are_there(self):
        assert triggers.APPEND_ONLY.missing(connection) == set()

        call_command("check", databases=["default"])

    def test_the_check_fails_without_any_one_of_them(self):
        for name in self.names():
            self.drop(name)

            with pytest.raises(SystemCheckError, match=f"audit.E001.*{name}"):
                call_command("check", databases=["default"])
            triggers.APPEND_ONLY.install(connection)

    def test_migrate_makes_them_again(self, entry):
        for name in self.names():
            self.drop(name)
        assert triggers.APPEND_ONLY.missing(connection) == set(self.names())

        call_command("migrate", verbosity=0, interactive=False)

        assert triggers.APPEND_ONLY.missing(connection) == set()
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Entry._base_manager.filter(pk=entry.pk).update(key="x")

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite cannot switch a trigger off")
    def test_a_trigger_that_is_switched_off_is_missing(self):
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_no_change")
        try:
            assert triggers.APPEND_ONLY.missing(connection) == {"audit_entry_no_change"}
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE audit_entry ENABLE TRIGGER audit_entry_no_change")
