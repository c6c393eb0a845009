"""Retention of audit entries: a number of days per tenant, or forever, which is the default.

The triggers allow the deletion of an entry only while ``at_work`` is set for its tenant, and only if the
entry is older than the tenant's days. The transaction that deletes sets and unsets ``at_work``, so no other
transaction sees it.
"""

from collections.abc import Iterator
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from audit import context, daily, log
from audit.events import Event
from audit.models import Entry, Retention
from database.clock import seconds_ahead

_DAY: Final = 24 * 3600
_BATCH: Final = 1000
_MAY_PURGE: Final = (
    "SELECT has_column_privilege('audit_retention', 'at_work', 'UPDATE') "
    "AND has_table_privilege('audit_entry', 'DELETE')"
)


class NotPermitted(Exception):
    """The database role may not delete audit entries."""


def set_days(tenant_id: str, days: int | None) -> None:
    """Set the number of days that a tenant's entries are kept, at least ``MIN_DAYS``. None means forever."""
    if days is None:
        Retention.objects.filter(pk=tenant_id).delete()
    else:
        Retention.objects.update_or_create(pk=tenant_id, defaults={"days": days})


def get_days(tenant_id: str) -> int | None:
    """Return the number of days that a tenant's entries are kept. None means forever."""
    return Retention.objects.filter(pk=tenant_id).values_list("days", flat=True).first()


def count_expired() -> int:
    """Return the number of entries of all tenants that are older than their retention."""
    return sum(_expired(retention).count() for retention in Retention.objects.all())


def purge(*, batch: int = _BATCH) -> Iterator[int]:
    """Delete entries that are older than their tenant's retention, and yield the size of each batch.

    Each batch is one transaction, with an audit entry about the number of deleted entries.

    Raises:
        NotPermitted: a tenant has a retention, and the database role is that of serving nodes.

    """
    daily.delete_old()
    if Retention.objects.exists() and not _may_purge():
        raise NotPermitted
    for retention in Retention.objects.order_by("pk"):
        deleted = batch
        while deleted == batch:
            deleted = _purge_batch(retention, batch)
            yield deleted


def _may_purge() -> bool:
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(_MAY_PURGE)
        return bool(cursor.fetchone()[0])


def _expired(retention: Retention) -> QuerySet[Entry]:
    oldest_kept = seconds_ahead(-retention.days * _DAY)
    return Entry.objects.filter(tenant_id=retention.tenant_id, created_at__lt=oldest_kept)


@transaction.atomic
def _purge_batch(retention: Retention, batch: int) -> int:
    # Nothing is deleted if the retention was changed meanwhile.
    row = Retention.objects.filter(pk=retention.pk, days=retention.days)
    if not row.update(at_work=True):
        return 0
    oldest = list(_expired(retention).order_by("created_at", "pk").values_list("pk", flat=True)[:batch])
    Entry.objects.filter(pk__in=oldest)._raw_delete(Entry.objects.db)  # noqa: SLF001 - delete() refuses
    row.update(at_work=False)
    if oldest:
        with context.tenant(retention.tenant_id):
            log.record(Event.AUDIT_LOG_PURGE, count=len(oldest), days=retention.days)
    return len(oldest)
