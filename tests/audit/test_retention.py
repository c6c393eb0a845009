"""How long a tenant's audit log is kept: forever, or until a purge deletes what is older than its days."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import retention
from audit.models import AppendOnly, Entry, Retention
from identity.tenants import services as tenants
from tests.support import management
from tests.support.cast import World, default_world
from tests.support.management import refusal_of, result_of

DAYS = 40
ENTRY = "Old.Entry"


def write(world: World, days_ago: float) -> Entry:
    entry = Entry(
        tenant_id=world.tenant.pk,
        key=ENTRY,
        ip="",
        user_agent="",
        request_id="",
        created_at=timezone.now() - timedelta(days=days_ago),
    )
    entry.save()
    return entry


def ages(world: World) -> list[int]:
    """How old the entries of a test are, in days."""
    found = Entry.objects.filter(tenant_id=world.tenant.pk, key=ENTRY)
    return sorted((timezone.now() - entry.created_at).days for entry in found)


def purged(*arguments: str) -> Any:
    out = StringIO()
    call_command("purge", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())["rows"]["audit_entries"]


@pytest.fixture
def old(acme, rival) -> Iterator[Entry]:
    """Entries of two tenants, of which one keeps them for forty days."""
    for world in (acme, rival):
        for days_ago in (500, DAYS + 1, DAYS - 1, 1):
            write(world, days_ago)
    retention.set_days(acme.tenant.pk, DAYS)
    yield Entry.objects.filter(tenant_id=acme.tenant.pk).earliest("created_at")
    retention.set_days(acme.tenant.pk, None)


class TestPurge:
    def test_takes_what_is_older_and_nothing_else(self, acme, rival, old):
        assert purged() == 2

        assert ages(acme) == [1, DAYS - 1]
        assert ages(rival) == [1, DAYS - 1, DAYS + 1, 500]

    def test_decision_A4_a_day_is_the_shortest_retention(self, acme, rival, old):
        retention.set_days(acme.tenant.pk, 1)
        write(acme, 0.9)

        assert purged() == 4

        assert ages(acme) == [0]
        assert len(ages(rival)) == 4

    def test_leaves_an_entry_that_says_how_many_it_took(self, acme, old):
        purged("--batch", "1")

        noted = Entry.objects.filter(tenant_id=acme.tenant.pk, key="AuditLog.Purge")
        assert [entry.payload for entry in noted] == [{"count": 1, "days": DAYS}] * 2

    def test_a_dry_run_takes_nothing(self, acme, old):
        assert purged("--dry-run") == 2

        assert len(ages(acme)) == 4

    def test_done_again_it_takes_nothing(self, acme, old):
        purged()

        assert purged() == 0
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="AuditLog.Purge").count() == 1

    def test_goes_on_after_the_tenant_is_deleted(self, acme, old):
        tenants.remove(acme.tenant)

        purged()

        assert ages(acme) == [1, DAYS - 1]


CHANGES = {
    "delete": "DELETE FROM audit_entry WHERE id = '{id}'",
    "update": "UPDATE audit_entry SET key = 'x' WHERE id = '{id}'",
}
ALL = {"truncate": "TRUNCATE audit_entry"}


def execute(change: str, entry: Entry) -> None:
    text = entry.pk.hex if connection.vendor == "sqlite" else str(entry.pk)
    with connection.cursor() as cursor:
        cursor.execute((CHANGES | ALL)[change].format(id=text))


def execute_at_work(world: World, change: str, entry: Entry) -> None:
    """As somebody would who knows of the switch."""
    Retention.objects.filter(pk=world.tenant.pk).update(at_work=True)
    execute(change, entry)


class TestAppendOnly:
    """A2 with a retention: what is too young, or not asked for by the purge, stays."""

    @pytest.mark.parametrize("change", CHANGES)
    def test_case_N01_not_by_sql_however_old_it_is(self, acme, old, change):
        with pytest.raises(DatabaseError, match="append-only"):
            execute(change, old)

        assert 500 in ages(acme)

    def test_case_N01_not_by_the_orm_however_old_it_is(self, acme, old):
        with pytest.raises(AppendOnly):
            Entry.objects.filter(pk=old.pk).delete()
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Entry._base_manager.filter(pk=old.pk).delete()

    @pytest.mark.parametrize("change", CHANGES)
    def test_case_N01_what_is_too_young_stays_even_when_the_purge_is_at_work(self, acme, old, change):
        young = Entry.objects.filter(tenant_id=acme.tenant.pk).latest("created_at")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute_at_work(acme, change, young)

    def test_case_N01_nothing_is_changed_even_when_the_purge_is_at_work(self, acme, old):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute_at_work(acme, "update", old)

    def test_case_N01_another_tenants_entries_stay_when_the_purge_is_at_work(self, acme, rival, old):
        theirs = Entry.objects.filter(tenant_id=rival.tenant.pk).earliest("created_at")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute_at_work(acme, "delete", theirs)

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no TRUNCATE")
    def test_case_N01_not_all_at_once(self, acme, old):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute_at_work(acme, "truncate", old)

    def test_decision_A4_with_zero_days_nothing_is_deleted(self, acme, old):
        Retention.objects.filter(pk=acme.tenant.pk).update(days=0)

        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute_at_work(acme, "delete", old)

    def test_the_switch_is_never_left_on(self, acme, old, monkeypatch):
        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("audit.log.record", broken)
        with pytest.raises(ZeroDivisionError):
            list(retention.purge())

        assert not Retention.objects.filter(at_work=True).exists()
        assert len(ages(acme)) == 4


class TestApi:
    @pytest.fixture
    def root(self, address):
        return management.superuser(default_world())

    def test_a_tenant_says_how_long(self, root, acme):
        path = f"/tenants/{acme.tenant.pk}"
        before = result_of(root.get(path))

        changed = result_of(root.patch(path, audit_retention_days=90))
        listed = {tenant["id"]: tenant for tenant in result_of(root.get("/tenants"))["data"]}
        cleared = result_of(root.patch(path, audit_retention_days=None))

        assert (before["audit_retention_days"], before["name"]) == (None, changed["name"])
        assert changed["audit_retention_days"] == listed[acme.tenant.pk]["audit_retention_days"] == 90
        assert cleared["audit_retention_days"] is None
        assert not Retention.objects.filter(pk=acme.tenant.pk).exists()
        entry = Entry.objects.filter(key="Tenant.Update", payload__id=acme.tenant.pk).latest("created_at")
        assert entry.payload["fields"] == ["audit_retention_days"]

    def test_a_new_tenant_says_it_from_the_start(self, root):
        made = root.created(
            "/tenants", slug=f"t-{timezone.now():%H%M%S%f}", name="T", audit_retention_days=365
        )

        assert made["audit_retention_days"] == 365
        retention.set_days(made["id"], None)

    @pytest.mark.parametrize("days", [0, -1, 36_501, "", "90 days", 1.5, True, [90]])
    def test_refuses_what_is_no_number_of_days(self, root, acme, days):
        refused = refusal_of(root.patch(f"/tenants/{acme.tenant.pk}", audit_retention_days=days), 400)

        assert "audit_retention_days" in refused
        assert not Retention.objects.filter(pk=acme.tenant.pk).exists()

    def test_a_name_alone_leaves_it(self, root, acme):
        result_of(root.patch(f"/tenants/{acme.tenant.pk}", audit_retention_days=90))

        changed = result_of(root.patch(f"/tenants/{acme.tenant.pk}", name="Another"))

        assert changed["audit_retention_days"] == 90
        retention.set_days(acme.tenant.pk, None)
