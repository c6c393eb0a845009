"""Counters as rows. One statement counts all hits of a request: see ``hit_statements``.

Every transaction locks rows in the order of their kinds, which prevents deadlocks.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from django.db import DataError, connection, models, transaction
from django.db.models import Case, F, QuerySet, Value, When

from database import chains
from database.chains import Chain
from database.clock import DatabaseNow
from database.list_parameters import among_selected
from database.statements import AtomicChange, Insert
from identity.core.tenant_statements import Update, text
from identity.limits import hit_statements
from identity.limits.models import Counter
from identity.limits.rules import MAX_ACTIVE_LOCKS, ActiveLock, Hit, Limit, Lock, Refusal, Window


def count_hits(hits: Sequence[Hit]) -> Refusal | None:
    """Count all hits and return None, or count none and return the first refusal. A rollback undoes hits."""
    ordered = sorted(hits, key=lambda hit: hit.rule.kind)
    counted = _count_together(ordered)
    if counted is None:
        with transaction.atomic() if len(ordered) > 1 else nullcontext():
            counted = _count_allowed(ordered)
            if counted < len(ordered) and len(ordered) > 1:
                transaction.set_rollback(True)
    return None if counted == len(ordered) else get_refusal(hits)


def count_and_insert(hit: Hit, insert: Insert, row: models.Model) -> Refusal | None:
    """Count a hit and insert a row, and return None, or do neither and return the refusal."""
    if _get_count_and_insert(hit.rule, insert)(hit_statements.get_values([hit]), row):
        return None
    return get_refusal([hit])


def increment(hit: Hit) -> Window:
    """Count a hit, even beyond its limit, and return the window."""
    compiled = hit_statements.get_increment((hit.rule,)).for_this_thread()
    with compiled.cursor() as cursor:
        compiled.execute(cursor, hit_statements.get_values([hit]))
        return Window(*cursor.fetchone())


def is_any_reached(hits: Sequence[Hit]) -> bool:
    """Return whether one of these limits is reached. Nothing is counted."""
    max_hits = {
        (hit.rule.kind, hit.key_hash): hit.rule.max_hits for hit in hits if isinstance(hit.rule, Limit)
    }
    rows = _rows(hits).filter(ends_at__gt=DatabaseNow()).values_list("kind", "key_hash", "count")
    return any(
        count >= max_hits.get((kind, key_hash), hit_statements.UNLIMITED) for kind, key_hash, count in rows
    )


def undo(hits: Sequence[Hit], *, cleared_kind: str = "", chain: Chain | None = None) -> None:
    """Undo hits, and clear the counters of ``cleared_kind``."""
    values = {"cleared_kind": cleared_kind}
    for number, hit in enumerate(hits):
        values |= {f"kind{number}": hit.rule.kind, f"key_hash{number}": hit.key_hash}
    with chains.joined(chain) as writes:
        writes.add(_undo_statement(len(hits)), values)


def get_locks(group_hashes: Sequence[str]) -> list[ActiveLock]:
    """Return the active locks of groups, the longest first, at most ``MAX_ACTIVE_LOCKS``."""
    locked = Counter.objects.filter(group_hash__in=group_hashes, locked_until__gt=DatabaseNow())
    longest_first = locked.annotate(now=DatabaseNow()).order_by("-locked_until", "pk")
    rows: Any = longest_first.values_list("key_hash", "locked_until", "now")[:MAX_ACTIVE_LOCKS]
    return [ActiveLock(key, int((until - now).total_seconds()) + 1) for key, until, now in rows]


def clear(group_hashes: Sequence[str]) -> bool:
    """Delete all counters of groups, and return true."""
    counters = Counter.objects.filter(group_hash__in=group_hashes)
    locked = counters.order_by("kind", "pk").select_for_update().values("pk")
    with transaction.atomic(savepoint=False):
        Counter.objects.filter(among_selected("pk", locked)).delete()
    return True


@lru_cache(maxsize=16)
def _undo_statement(hits: int) -> Update:
    kinds, hashes = ([text(f"{name}{number}") for number in range(hits)] for name in ("kind", "key_hash"))

    def counted() -> QuerySet[Counter]:
        rows = Counter.objects.filter(kind__in=kinds, key_hash__in=hashes)
        locked = rows.order_by("kind").select_for_update().values("pk")
        return Counter.objects.filter(among_selected("pk", locked), count__gt=0)

    count = Case(When(kind=text("cleared_kind"), then=Value(0)), default=F("count") - 1)
    return Update(counted, count=count, locked_until=None)


@lru_cache(maxsize=64)
def _get_count_and_insert(rule: Limit | Lock, insert: Insert) -> AtomicChange:
    return AtomicChange(hit_statements.get_count((rule,)), insert)


def _count_together(hits: Sequence[Hit]) -> int | None:
    """Count all hits or none in one statement, and return their number. Return None if that is not possible.

    The statement fails if another request has just brought a counter to its limit. A failure would end a
    transaction of the caller, so the statement is not tried inside one. SQLite has no such statement.
    """
    if len(hits) <= 1 or connection.vendor != "postgresql" or connection.in_atomic_block:
        return None
    compiled = hit_statements.get_count_together(_get_rules(hits)).for_this_thread()
    try:
        with compiled.cursor() as cursor:
            compiled.execute(cursor, hit_statements.get_values(hits))
            return int(cursor.fetchone()[0])
    except DataError:
        return None


def _count_allowed(hits: Sequence[Hit]) -> int:
    """Count the hits that are allowed, and return their number."""
    compiled = hit_statements.get_count(_get_rules(hits)).for_this_thread()
    with compiled.cursor() as cursor:
        compiled.execute(cursor, hit_statements.get_values(hits))
        return int(cursor.rowcount)


def _get_rules(hits: Sequence[Hit]) -> hit_statements.Rules:
    return tuple(hit.rule for hit in hits)


def get_refusal(hits: Sequence[Hit]) -> Refusal:
    """Return which of these hits was refused. If several were, return the first."""
    rows = {row.key_hash: row for row in _rows(hits).annotate(now=DatabaseNow())}
    for hit in hits:
        row = rows.get(hit.key_hash)
        if row is None:
            continue
        is_reached = isinstance(hit.rule, Limit) and row.count >= hit.rule.max_hits
        until = row.ends_at if is_reached else row.locked_until
        if until and until > row.now:
            return Refusal(hit, int((until - row.now).total_seconds()) + 1)
    return Refusal(hits[-1], 1)  # the window or the lock has ended since


def _rows(hits: Sequence[Hit]) -> QuerySet[Counter]:
    return Counter.objects.filter(
        kind__in=[hit.rule.kind for hit in hits], key_hash__in=[hit.key_hash for hit in hits]
    )
