"""The total of the audit log: stored before a watermark, counted after it, and always exact."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit import checks, count_triggers, counting, retention
from audit.models import CountSegment, CountWatermark, Entry
from identity.rest import pagination
from tests.support import management
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.threads import at_once


def write(world: World, days_ago: float = 0, number: int = 1) -> None:
    when = timezone.now() - timedelta(days=days_ago)
    Entry.objects.bulk_create(
        Entry(
            tenant_id=world.tenant.pk, key="Some.Thing", ip="", user_agent="", request_id="", created_at=when
        )
        for _ in range(number)
    )


def count_and_check(world: World) -> int:
    """Return the number of entries as the product counts them. Check that there are as many rows."""
    number = counting.count_entries(world.tenant.pk)
    assert number == Entry.objects.filter(tenant_id=world.tenant.pk).count()
    return number


def stored_number(world: World) -> int:
    """Return the stored number of entries before the watermark."""
    return CountWatermark.objects.get(pk=world.tenant.pk).entries


@pytest.fixture
def counted(acme: World) -> World:
    """A tenant whose watermark is a minute ago."""
    write(acme, 90, 3)
    write(acme, 2, 4)
    assert counting.advance_watermark(acme.tenant.pk)
    assert stored_number(acme) == 7
    return acme


def test_without_a_watermark_all_entries_are_counted(acme, rival):
    before = count_and_check(acme)
    write(acme, 1, 3)
    write(rival, 1, 5)
    assert count_and_check(acme) == before + 3
    assert not CountWatermark.objects.filter(pk=acme.tenant.pk).exists()


def test_entries_after_the_watermark_are_counted_each_time(counted):
    before = count_and_check(counted)
    write(counted, 0, 3)
    assert count_and_check(counted) == before + 3
    assert stored_number(counted) == 7


def test_a_late_entry_corrects_the_stored_number(counted, rival):
    before = count_and_check(counted)
    write(counted, 1, 2)
    write(counted, 400)
    write(rival, 1)
    assert count_and_check(counted) == before + 3
    assert stored_number(counted) == 10


def test_a_deleted_entry_corrects_the_stored_number(counted):
    retention.set_days(counted.tenant.pk, 31)
    before = count_and_check(counted)
    assert sum(retention.purge()) >= 3
    # The purge writes an entry of its own.
    assert count_and_check(counted) == before - 3 + 1
    assert stored_number(counted) == 4
    retention.set_days(counted.tenant.pk, None)


def test_a_rolled_back_entry_is_not_counted(counted):
    before = count_and_check(counted)
    with transaction.atomic():
        write(counted, 1, 5)
        write(counted, 0, 5)
        assert count_and_check(counted) == before + 10
        transaction.set_rollback(True)
    assert count_and_check(counted) == before


def test_the_watermark_advances_when_many_entries_are_after_it(acme, monkeypatch):
    monkeypatch.setattr(counting, "SEGMENT_SIZE", 5)
    write(acme, 3, 6)
    before = count_and_check(acme)
    assert stored_number(acme) == 6
    assert count_and_check(acme) == before
    write(acme, 2, 1)
    assert (count_and_check(acme), stored_number(acme)) == (before + 1, 7)


@pytest.fixture
def segmented(acme: World, rival: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A tenant with segments of three entries. A segment has more if they have the same time."""
    monkeypatch.setattr(counting, "SEGMENT_SIZE", 3)
    for days_ago, number in ((400, 1), (90, 5), (60, 2), (41, 1), (40, 3), (9, 2), (2, 4)):
        write(acme, days_ago, number)
        write(rival, days_ago)
    assert counting.advance_watermark(rival.tenant.pk)
    assert counting.advance_watermark(acme.tenant.pk)
    assert list(segments(acme).values_list("entries", flat=True)) == [1, 5, 3, 3, 2, 4, 0]
    return acme


def segments(world: World) -> QuerySet[CountSegment]:
    return CountSegment.objects.filter(tenant_id=world.tenant.pk).order_by("end")


def pages(world: World, size: int) -> list[str]:
    """The ids on all pages, in order."""
    admin = management.superuser(world)
    found: list[str] = []
    for number in count(1):
        page = result_of(admin.get("/logs", page=number, page_size=size))["data"]
        if not page:
            break
        found += [entry["id"] for entry in page]
    return found


@pytest.mark.parametrize("size", [1, 2, 7])
def test_pages_in_the_middle_are_parts_of_one_list(segmented, rival, monkeypatch, size):
    monkeypatch.setattr(pagination, "_VERY_FAR", 1)
    monkeypatch.setattr(pagination, "_FAR", 2)
    write(segmented, 0, 4)
    write(segmented, 50, 2)
    write(segmented, 500)
    write(rival, 50, 3)
    retention.set_days(segmented.tenant.pk, 89)
    assert sum(retention.purge()) == 7
    write(segmented, 3)

    listed = pages(segmented, size)

    everything = Entry.objects.filter(tenant_id=segmented.tenant.pk).order_by("-created_at", "-id")
    assert listed == [str(pk) for pk in everything.values_list("pk", flat=True)]
    assert len(listed) == count_and_check(segmented)
    assert sum(segments(rival).values_list("entries", flat=True)) == 10
    retention.set_days(segmented.tenant.pk, None)


def test_no_page_skips_more_than_a_segment(segmented):
    write(segmented, 50, 2)
    write(segmented, 0, 2)
    every = list(
        Entry.objects.filter(tenant_id=segmented.tenant.pk)
        .order_by("-created_at", "-id")
        .values_list("pk", "created_at")
    )
    kept = sum(segments(segmented).values_list("entries", flat=True))
    newer = len(every) - kept

    for place, (pk, _) in enumerate(every):
        found = counting.find_page_start(segmented.tenant.pk, place, len(every))
        assert (found is None) == (place < newer)
        if found:
            before, skipped = found
            assert [row for row, moment in every if moment < before][skipped] == pk
            assert skipped < 5


def test_a_segment_that_is_missing_counts_as_newer(segmented):
    """Another release may have advanced the watermark without segments."""
    write(segmented, 0, 5)
    CountWatermark.objects.filter(pk=segmented.tenant.pk).update(
        watermark=timezone.now(), entries=count_and_check(segmented)
    )
    every = count_and_check(segmented)

    assert counting.find_page_start(segmented.tenant.pk, 2, every) is None
    assert counting.find_page_start(segmented.tenant.pk, every - 1, every) is not None


def test_the_api_returns_the_exact_total(counted):
    admin = management.superuser(counted)
    assert result_of(admin.get("/logs"))["total"] == count_and_check(counted)
    write(counted, 1, 2)
    page = result_of(admin.get("/logs", page_size=1, page=10_000))
    assert (page["total"], page["data"]) == (count_and_check(counted), [])
    assert result_of(admin.get("/logs", key="Some.Thing"))["total"] == 9


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
class TestAtOnce:
    @pytest.fixture
    def meanwhile(self, counted) -> Iterator[Any]:
        """A concurrent transaction, which writes and ends on a signal."""
        wrote, end = Signal(), Signal()

        def work(days_ago: float) -> None:
            try:
                with transaction.atomic():
                    write(counted, days_ago)
                    wrote.set()
                    end.wait(10)
            finally:
                connections.close_all()

        threads: list[Thread] = []

        def begin(days_ago: float) -> Any:
            threads.append(Thread(target=work, args=[days_ago]))
            threads[0].start()
            assert wrote.wait(10)
            return finish

        def finish() -> None:
            end.set()
            threads[0].join()

        yield begin
        finish()

    @pytest.mark.parametrize("days_ago", [0, 1, 400])
    def test_the_watermark_waits_for_transactions_that_write_entries(self, counted, meanwhile, days_ago):
        before = count_and_check(counted)
        finish = meanwhile(days_ago)

        assert not counting.advance_watermark(counted.tenant.pk)
        assert count_and_check(counted) == before
        finish()

        assert count_and_check(counted) == before + 1
        assert counting.advance_watermark(counted.tenant.pk)
        assert count_and_check(counted) == before + 1

    def test_writers_do_not_wait_for_the_watermark(self, counted):
        before = count_and_check(counted)
        with transaction.atomic():
            list(CountWatermark.objects.select_for_update().filter(pk=counted.tenant.pk))
            at_once(2, lambda _: impatiently(counted))

            assert count_and_check(counted) == before + 2


def impatiently(world: World) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '1ms'")
        write(world)


def test_the_triggers_of_an_earlier_release_are_replaced(counted):
    """Otherwise a late entry would be counted twice."""
    note = "UPDATE audit_counted SET entries = entries + 1"
    each, what = ("", f"BEGIN {note}; END")
    if connection.vendor == "postgresql":
        each, what = ("FOR EACH ROW", "EXECUTE FUNCTION audit_entry_came_late()")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TRIGGER audit_entry_count_insert AFTER INSERT ON audit_entry {each} {what}")

    count_triggers.LATE_ENTRIES.install(connection)

    assert counting.advance_watermark(counted.tenant.pk)
    before = count_and_check(counted)
    write(counted, 1, 2)
    assert count_and_check(counted) == before + 2


@pytest.mark.parametrize("name", sorted(count_triggers.LATE_ENTRIES.names(connection.vendor)))
def test_a_missing_trigger_is_reported_and_created_again(counted, name):
    with connection.cursor() as cursor:
        cursor.execute(
            f"DROP TRIGGER {name}" + (" ON audit_entry" if connection.vendor == "postgresql" else "")
        )
    write(counted, 1)

    (found,) = checks.entries_are_counted(databases=["default"])
    assert found.id == "audit.W002"
    call_command("migrate", verbosity=0, interactive=False)

    assert count_triggers.LATE_ENTRIES.missing(connection) == set()
    assert count_and_check(counted) > 0
