"""Rows that are over: what may be forgotten is declared by the app that knows, and forgotten here.

``settings.EXPIRING`` names the declarations by dotted path. Nothing depends on when this
runs: whoever reads such a row asks for itself whether it still counts.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from identity.core import tenancy

BATCH: Final = 500
# Between two batches others get their turn: SQLite has one writer at a time.
_PAUSE_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Expiring:
    """A kind of row, by a name for operators and the rows that no promise needs any more.

    ``note`` is told of the rows in the transaction that deletes them, where that has to be
    written down.
    """

    name: str
    over: Callable[[], QuerySet[Any]]
    note: Callable[[Sequence[Any]], None] | None = None


def declared() -> list[Expiring]:
    """Return all kinds, in the order in which they are forgotten."""
    return [kind for path in settings.EXPIRING for kind in import_string(path)]


def count(kind: Expiring) -> int:
    """Return how many rows of a kind are over, of all tenants."""
    with tenancy.using(tenancy.EVERYWHERE):
        return kind.over().count()


def forget(kind: Expiring, *, batch: int = BATCH) -> Iterator[int]:
    """Delete what is over, of all tenants, and yield how many rows each batch was.

    Each batch is a transaction of its own. Rows that somebody else holds at the moment are
    left for another time, so nobody waits and two that do this at once share the work.
    """
    after: UUID | None = None
    while True:
        with tenancy.using(tenancy.EVERYWHERE):
            forgotten = _forget_some(kind, after, batch)
        yield len(forgotten)
        if len(forgotten) < batch:
            return
        after = forgotten[-1]
        time.sleep(_PAUSE_SECONDS)


def tidy(*, batches: int, batch: int = BATCH) -> None:
    """Forget a bounded part of what is over: so many batches of each kind at most."""
    for kind in declared():
        for _ in zip(range(batches), forget(kind, batch=batch), strict=False):
            pass


@transaction.atomic
def _forget_some(kind: Expiring, after: UUID | None, batch: int) -> list[UUID]:
    """Delete one batch and return its ids, in order: the next goes on where this one ended."""
    rows = kind.over().select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    if after is not None:
        rows = rows.filter(pk__gt=after)
    if kind.note is None:
        rows = rows.only("pk")
    found = list(rows[:batch])
    if found and kind.note is not None:
        kind.note(found)
    forgotten = [row.pk for row in found]
    rows.model._default_manager.filter(pk__in=forgotten).delete()
    return forgotten
