"""How long entries are kept: for ever, unless a tenant says otherwise; and forgetting what is older.

The triggers let go of an entry only while ``at_work`` is set for its tenant, and only of one that
is older than the tenant's days. It is set and unset in the transaction that deletes, so that no
other ever sees it set.
"""

from collections.abc import Iterator
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from audit import context, log
from audit.events import Event
from audit.models import Entry, Retention
from database.clock import seconds_ahead

_DAY: Final = 24 * 3600
_BATCH: Final = 1000


def keep(tenant_id: str, days: int | None) -> None:
    """Keep a tenant's entries for so many days, ``LEAST_DAYS`` or more; for ever without a number."""
    if days is None:
        Retention.objects.filter(pk=tenant_id).delete()
    else:
        Retention.objects.update_or_create(pk=tenant_id, defaults={"days": days})


def days_of(tenant_id: str) -> int | None:
    """Return for how many days a tenant's entries are kept; nothing for ever."""
    return Retention.objects.filter(pk=tenant_id).values_list("days", flat=True).first()


def count_over() -> int:
    """Return how many entries are older than their tenant wants them, of all tenants."""
    return sum(_over(kept).count() for kept in Retention.objects.all())


def forget(*, batch: int = _BATCH) -> Iterator[int]:
    """Delete entries that are older than their tenant wants them; yield how many each batch was.

    Each batch is a transaction of its own and leaves an entry that says how many it took.
    """
    for kept in Retention.objects.order_by("pk"):
        deleted = batch
        while deleted == batch:
            deleted = _forget_some(kept, batch)
            yield deleted


def _over(kept: Retention) -> QuerySet[Entry]:
    return Entry.objects.filter(tenant_id=kept.tenant_id, created_at__lt=seconds_ahead(-kept.days * _DAY))


@transaction.atomic
def _forget_some(kept: Retention, batch: int) -> int:
    # If the tenant wants them kept for longer by now, nothing is taken.
    this = Retention.objects.filter(pk=kept.pk, days=kept.days)
    if not this.update(at_work=True):
        return 0
    oldest = list(_over(kept).order_by("created_at", "pk").values_list("pk", flat=True)[:batch])
    Entry.objects.filter(pk__in=oldest)._raw_delete(Entry.objects.db)  # noqa: SLF001 - delete() refuses
    this.update(at_work=False)
    if oldest:
        with context.tenant(kept.tenant_id):
            log.record(Event.AUDIT_LOG_PURGE, count=len(oldest), days=kept.days)
    return len(oldest)
