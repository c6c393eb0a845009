"""How many entries a tenant has, exactly, without counting ten million of them or keeping count of each.

Entries come at the end, so a row says how many there are from before a moment, and only later ones
are counted. When these become many the moment is moved on. Whoever writes an entry pays nothing:
only what comes or goes from before the moment is noted there, by triggers.

On PostgreSQL an entry may become visible long after its time. Hence the moment is one after which
every writer has ended who was at work at it, and triggers heed all that is older than ``LATE``.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce

from audit.clock import seconds_ahead
from audit.count_triggers import LATE
from audit.models import Counted, Entry

MANY: Final = 20_000
_BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)
_END: Final = datetime(9999, 12, 31, tzinfo=UTC)
_MOST: Final = 2**62
_PATIENCE: Final = timedelta(milliseconds=100)

# Locks on the table of entries that others have who write to it.
_WRITERS: Final = """
SELECT virtualtransaction FROM pg_locks WHERE relation = 'audit_entry'::regclass AND locktype = 'relation'
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND mode = 'RowExclusiveLock' AND pid IS DISTINCT FROM pg_backend_pid()
"""


def total_of(tenant_id: str) -> int:
    """Return how many entries a tenant has."""
    counted = Counted.objects.filter(pk=tenant_id)
    later = Entry.objects.filter(
        tenant_id=tenant_id,
        created_at__gte=Coalesce(Subquery(counted.values("before")), _BEGINNING),
        created_at__lt=_END,
    )
    # PostgreSQL cannot know that these are few. A time between two, in order: it takes the index.
    inner = later.order_by("-created_at", "-id")[:_MOST]
    found = inner.aggregate(
        later=Count("pk"), total=Count("pk") + Coalesce(Subquery(counted.values("entries")), 0)
    )
    if found["later"] >= MANY and not connection.in_atomic_block:
        move_on(tenant_id)
    return int(found["total"])


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
        row.entries += _between(row, moment).count()
        row.before = moment
        row.save()
    return True


def _between(row: Counted, moment: datetime) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=row.pk, created_at__gte=row.before, created_at__lt=moment)


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
