"""How many entries a tenant has, exactly, without counting ten million of them or keeping count of each.

Entries come at the end, so a row says how many there are from before a moment, and only later ones
are counted. When these become many the moment is moved on. Whoever writes an entry pays nothing:
only what comes or goes from before the moment is noted there, by triggers.

What was counted is also kept by stretches, so that a page in the middle is found without skipping
everything that is newer. Entries of a stretch that was not kept yet count as newer than all that were.

On PostgreSQL an entry may become visible long after its time. Hence the moment is one after which
every writer has ended who was at work at it, and triggers heed all that is older than ``LATE``.
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
from audit.models import Counted, Entry, Stretch
from database.clock import seconds_ahead

MANY: Final = 20_000
_BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)
_END: Final = datetime(9999, 12, 31, tzinfo=UTC)
_MOST: Final = 2**62
_PATIENCE: Final = timedelta(milliseconds=100)
_NUMBER: Final = Func(F("pk"), function="COUNT", output_field=BigIntegerField())
_TICK: Final = timedelta(microseconds=1)  # of the times that entries have

# Locks on the table of entries that others have who write to it.
_WRITERS: Final = """
SELECT virtualtransaction FROM pg_locks WHERE relation = 'audit_entry'::regclass AND locktype = 'relation'
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND mode = 'RowExclusiveLock' AND pid IS DISTINCT FROM pg_backend_pid()
"""


def total_of(tenant_id: str, *, hidden: Collection[str] = ()) -> int:
    """Return how many entries a tenant has, without those whose keys are hidden."""
    counted = Counted.objects.filter(pk=tenant_id)
    later = Entry.objects.filter(
        tenant_id=tenant_id,
        created_at__gte=Coalesce(Subquery(counted.values("before")), _BEGINNING),
        created_at__lt=_END,
    )
    # PostgreSQL cannot know that these are few. A time between two, in order: it takes the index.
    inner = later.order_by("-created_at", "-id")[:_MOST]
    total = Count("pk") + Coalesce(Subquery(counted.values("entries")), 0)
    if hidden:
        total -= Subquery(_hidden(tenant_id, hidden).annotate(number=_NUMBER).values("number"))
    found = inner.aggregate(later=Count("pk"), total=total)
    if found["later"] >= MANY and not connection.in_atomic_block:
        move_on(tenant_id)
    return int(found["total"])


def nearest(
    tenant_id: str, skipped: int, total: int, *, hidden: Collection[str] = ()
) -> tuple[datetime, int] | None:
    """Return where to look for a page that comes after so many newer entries, of so many in all.

    The page is found among entries from before the moment, after the number of them that comes with it;
    that is not more than a stretch has. Nothing where no stretch is kept that far.
    """
    older = total - skipped
    if hidden:
        return _find_nearest_visible(tenant_id, older, hidden)
    reaching = Window(Sum("entries"), order_by="before")
    stretches = Stretch.objects.filter(tenant_id=tenant_id).annotate(reaching=reaching)
    found = stretches.filter(reaching__gte=older).order_by("before").values_list("before", "reaching").first()
    return found and (found[0], int(found[1]) - older)


def _find_nearest_visible(tenant_id: str, older: int, hidden: Collection[str]) -> tuple[datetime, int] | None:
    """Find the stretch where so many visible entries are older, by halves: few counts of hidden ones."""
    kept = Stretch.objects.filter(tenant_id=tenant_id).order_by("before")
    stretches = list(kept.values_list("before", "entries"))
    moments = [before for before, _ in stretches]
    reaching = list(accumulate(entries for _, entries in stretches))

    def visible(place: int) -> int:
        among_them = _hidden(tenant_id, hidden).filter(created_at__lt=moments[place])
        return reaching[place] - among_them.count()

    place = bisect_left(range(len(moments)), older, key=visible)
    return (moments[place], visible(place) - older) if place < len(moments) else None


def _hidden(tenant_id: str, keys: Collection[str]) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=tenant_id, key__in=sorted(keys)).order_by()


def move_on(tenant_id: str) -> bool:
    """Count up to a minute ago, once for all. False if somebody else is at it, or a writer does not end."""
    Counted.objects.get_or_create(pk=tenant_id, defaults={"before": _BEGINNING, "entries": 0})
    moment = _now() - timedelta(seconds=2 * LATE)
    if connection.vendor == "postgresql" and not _have_ended(_writers()):
        return False
    with transaction.atomic():
        row = Counted.objects.select_for_update(skip_locked=True).filter(pk=tenant_id).first()
        if row is None or row.before >= moment:
            return False
        kept = Stretch.objects.filter(tenant_id=tenant_id)
        since = kept.aggregate(last=Max("before"))["last"] or _BEGINNING
        Stretch.objects.bulk_create(_stretches(tenant_id, since, moment))
        row.entries = int(kept.aggregate(all=Sum("entries"))["all"])
        row.before = moment
        row.save()
    return True


def _stretches(tenant_id: str, since: datetime, until: datetime) -> Iterator[Stretch]:
    while since < until:
        rest = _between(tenant_id, since, until).order_by("created_at", "id")
        next_one = rest.values_list("created_at", flat=True)[MANY : MANY + 1].first()
        end = max(next_one, since + _TICK) if next_one else until
        yield Stretch(tenant_id=tenant_id, before=end, entries=_between(tenant_id, since, end).count())
        since = end


def _between(tenant_id: str, since: datetime, until: datetime) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=tenant_id, created_at__gte=since, created_at__lt=until)


def _now() -> datetime:
    """Return the database's time, which entries have."""
    now: datetime = Counted.objects.annotate(now=seconds_ahead(0)).values_list("now", flat=True)[0]
    return now


def _writers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_WRITERS)
        return {name for (name,) in cursor.fetchall()}


def _have_ended(writers: set[str]) -> bool:
    """Wait a little for transactions to end."""
    deadline = time.monotonic() + _PATIENCE.total_seconds()
    while writers and time.monotonic() < deadline:
        time.sleep(0.01)
        writers &= _writers()
    return not writers
