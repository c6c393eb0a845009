"""The exact number of a tenant's audit entries, without reading all of them.

A row (``CountWatermark``) stores the number of entries before a point in time, the watermark. New entries are
later than that, so only the entries after the watermark are counted. When there are many, the watermark is
advanced. The entries before it are divided into segments (``CountSegment``), each with its number of entries,
so a page in the middle of the log is found by skipping the rest of one segment.

Users and members have shards instead (``database.row_counts``): each insert or delete updates a stored
number. Nearly every request writes an audit entry, so that would cost too much here. Inserting an entry
stores nothing more; triggers (``audit.count_triggers``) correct the stored numbers only for inserts and
deletes before the watermark. docs/decisions/0029 compares the two.

On PostgreSQL an entry may become visible long after its time. So the watermark is advanced only when all
transactions that were writing entries have ended, and the insert triggers look at all entries older than
``LATE``.
"""

import time
from bisect import bisect_left
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

from django.db import connection, transaction
from django.db.models import BigIntegerField, Count, F, Func, Max, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Coalesce

from audit.count_triggers import LATE
from audit.models import CountSegment, CountWatermark, Entry
from database.clock import seconds_ahead

SEGMENT_SIZE: Final = 20_000  # entries
_BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)
_END: Final = datetime(9999, 12, 31, tzinfo=UTC)
_UNLIMITED: Final = 2**62
_MAX_WAIT: Final = timedelta(milliseconds=100)
_NUMBER: Final = Func(F("pk"), function="COUNT", output_field=BigIntegerField())
_TICK: Final = timedelta(microseconds=1)  # the resolution of ``created_at``

# The transactions that hold locks for writing entries, except this one.
_WRITERS: Final = """
SELECT virtualtransaction FROM pg_locks WHERE relation = 'audit_entry'::regclass AND locktype = 'relation'
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND mode = 'RowExclusiveLock' AND pid IS DISTINCT FROM pg_backend_pid()
"""


def count_entries(tenant_id: str, *, hidden: Collection[str] = ()) -> int:
    """Return the number of a tenant's entries, except those with a hidden key."""
    stored = CountWatermark.objects.filter(pk=tenant_id)
    later = Entry.objects.filter(
        tenant_id=tenant_id,
        created_at__gte=Coalesce(Subquery(stored.values("watermark")), _BEGINNING),
        created_at__lt=_END,
    )
    # PostgreSQL cannot know that few entries match, and uses the index because of both bounds and the order.
    # Django keeps the order of a subquery only if the subquery has a limit.
    inner = later.order_by("-created_at", "-id")[:_UNLIMITED]
    total = Count("pk") + Coalesce(Subquery(stored.values("entries")), 0)
    if hidden:
        total -= Subquery(_hidden(tenant_id, hidden).annotate(number=_NUMBER).values("number"))
    found = inner.aggregate(later=Count("pk"), total=total)
    if found["later"] >= SEGMENT_SIZE and not connection.in_atomic_block:
        advance_watermark(tenant_id)
    return int(found["total"])


def find_page_start(
    tenant_id: str, skipped: int, total: int, *, hidden: Collection[str] = ()
) -> tuple[datetime, int] | None:
    """Return the end of the segment in which a page begins, and how many entries of the segment to skip.

    ``skipped`` is the number of entries that are newer than the page, ``total`` the number of all entries.
    Return None if the page begins after the watermark.
    """
    older = total - skipped
    if hidden:
        return _find_visible_start(tenant_id, older, hidden)
    running_total = Window(Sum("entries"), order_by="end")
    segments = CountSegment.objects.filter(tenant_id=tenant_id).annotate(running_total=running_total)
    reaching = segments.filter(running_total__gte=older).order_by("end")
    found = reaching.values_list("end", "running_total").first()
    return found and (found[0], int(found[1]) - older)


def _find_visible_start(tenant_id: str, older: int, hidden: Collection[str]) -> tuple[datetime, int] | None:
    """Find the segment by bisection, so that hidden entries are counted for few segments only."""
    ordered = CountSegment.objects.filter(tenant_id=tenant_id).order_by("end")
    segments = list(ordered.values_list("end", "entries"))
    ends = [end for end, _ in segments]
    running_totals = list(accumulate(entries for _, entries in segments))

    def count_visible(index: int) -> int:
        hidden_entries = _hidden(tenant_id, hidden).filter(created_at__lt=ends[index])
        return running_totals[index] - hidden_entries.count()

    index = bisect_left(range(len(ends)), older, key=count_visible)
    return (ends[index], count_visible(index) - older) if index < len(ends) else None


def _hidden(tenant_id: str, keys: Collection[str]) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=tenant_id, key__in=sorted(keys)).order_by()


def advance_watermark(tenant_id: str) -> bool:
    """Advance the watermark to a minute ago, and store the number of entries before it.

    Return false if another process is advancing it or has done so, or if a transaction that writes entries
    does not end in time.
    """
    CountWatermark.objects.get_or_create(pk=tenant_id, defaults={"watermark": _BEGINNING, "entries": 0})
    watermark = _now() - timedelta(seconds=2 * LATE)
    if connection.vendor == "postgresql" and not _wait_for_end(_find_writers()):
        return False
    with transaction.atomic():
        row = CountWatermark.objects.select_for_update(skip_locked=True).filter(pk=tenant_id).first()
        if row is None or row.watermark >= watermark:
            return False
        segments = CountSegment.objects.filter(tenant_id=tenant_id)
        since = segments.aggregate(last=Max("end"))["last"] or _BEGINNING
        CountSegment.objects.bulk_create(_new_segments(tenant_id, since, watermark))
        row.entries = int(segments.aggregate(all=Sum("entries"))["all"])
        row.watermark = watermark
        row.save()
    return True


def _new_segments(tenant_id: str, since: datetime, until: datetime) -> Iterator[CountSegment]:
    while since < until:
        rest = _between(tenant_id, since, until).order_by("created_at", "id")
        following = rest.values_list("created_at", flat=True)[SEGMENT_SIZE : SEGMENT_SIZE + 1].first()
        end = max(following, since + _TICK) if following else until
        yield CountSegment(tenant_id=tenant_id, end=end, entries=_between(tenant_id, since, end).count())
        since = end


def _between(tenant_id: str, since: datetime, until: datetime) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=tenant_id, created_at__gte=since, created_at__lt=until)


def _now() -> datetime:
    """Return the database's time, which is the clock of entries."""
    now: datetime = CountWatermark.objects.annotate(now=seconds_ahead(0)).values_list("now", flat=True)[0]
    return now


def _find_writers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_WRITERS)
        return {name for (name,) in cursor.fetchall()}


def _wait_for_end(writers: set[str]) -> bool:
    """Wait up to ``_MAX_WAIT`` for transactions to end. Return whether all have ended."""
    deadline = time.monotonic() + _MAX_WAIT.total_seconds()
    while writers and time.monotonic() < deadline:
        time.sleep(0.01)
        writers &= _find_writers()
    return not writers
