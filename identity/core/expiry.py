"""Deletion of expired rows. Each app declares which of its rows expire.

``settings.EXPIRING`` names the declarations by dotted path. Code that reads such a row checks its expiry
itself, so it does not matter when expired rows are deleted.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from identity.core import tenancy

BATCH: Final = 500
# Between two batches, so that other transactions can write: SQLite has one writer at a time.
_PAUSE_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Expiring:
    """A kind of rows that expire: its name for operators, and the query for its expired rows.

    ``record`` writes audit entries for the rows, in the transaction that deletes them.
    """

    name: str
    find_expired: Callable[[], QuerySet[Any]]
    record: Callable[[Sequence[Any]], None] | None = None


def get_kinds() -> list[Expiring]:
    """Return all kinds, in the order in which they are purged."""
    return [kind for path in settings.EXPIRING for kind in import_string(path)]


def count(kind: Expiring) -> int:
    """Return the number of expired rows of a kind, in all tenants."""
    with tenancy.using(tenancy.EVERYWHERE):
        return kind.find_expired().count()


def purge(kind: Expiring, *, batch: int = BATCH) -> Iterator[int]:
    """Delete the expired rows of all tenants, and yield the number of deleted rows after each batch.

    Each batch is one transaction. Locked rows are skipped, so that no transaction waits and concurrent purges
    share the work.
    """
    after: UUID | None = None
    while True:
        with tenancy.using(tenancy.EVERYWHERE):
            deleted = _purge_batch(kind, after, batch)
        yield len(deleted)
        if len(deleted) < batch:
            return
        after = deleted[-1]
        time.sleep(_PAUSE_SECONDS)


def purge_some(*, batches: int, batch: int = BATCH) -> None:
    """Delete at most this number of batches of each kind of expired rows."""
    for kind in get_kinds():
        for _ in islice(purge(kind, batch=batch), batches):
            pass


@transaction.atomic
def _purge_batch(kind: Expiring, after: UUID | None, batch: int) -> list[UUID]:
    """Delete one batch of rows after the id ``after``, and return their ids in order."""
    rows = kind.find_expired().select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    if after is not None:
        rows = rows.filter(pk__gt=after)
    if kind.record is None:
        rows = rows.only("pk")
    found = list(rows[:batch])
    if found and kind.record is not None:
        kind.record(found)
    deleted = [row.pk for row in found]
    rows.model._default_manager.filter(pk__in=deleted).delete()
    return deleted
