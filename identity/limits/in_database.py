"""Counters as rows. One statement counts all hits of a request, and its ``WHERE`` applies the limits.

Every transaction locks rows in the order of their kinds, which prevents deadlocks. The clock of the database
is used, which all nodes share.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, Value, When

from database import chains, ids
from database.chains import Chain
from database.clock import DatabaseNow
from database.list_parameters import among_selected
from identity.core import tenancy
from identity.core.tenant_statements import Update, text
from identity.limits.models import Counter
from identity.limits.rules import (
    LOCK_SECONDS,
    MAX_ACTIVE_LOCKS,
    ActiveLock,
    Hit,
    Limit,
    Lock,
    Refusal,
    Window,
)

_UNLIMITED: Final = 2**31 - 1
_ROW: Final = "(%s, %s, %s, %s, %s, 1, {ends_at}, {now}, {now})"
# After a window ends, the next hit starts a new one. A lock extends its window, so the next failure
# causes a longer lock.
_COLUMNS: Final = "id, tenant_id, kind, key_hash, group_hash, count, ends_at, created_at, updated_at"
# Nodes of release 0.1.3 insert counters without a group; the next hit adds it.
_HIT: Final = """
INSERT INTO limits_counter AS c ({columns})
VALUES {rows}
ON CONFLICT (tenant_id, kind, key_hash) DO UPDATE SET
    group_hash = EXCLUDED.group_hash,
    count = CASE WHEN c.ends_at <= {now} THEN 1 ELSE c.count + 1 END,
    ends_at = CASE WHEN c.ends_at <= {now} THEN EXCLUDED.ends_at ELSE COALESCE({extended}, c.ends_at) END,
    locked_until = CASE WHEN c.ends_at <= {now} THEN NULL ELSE {locked} END
WHERE (c.locked_until IS NULL OR c.locked_until <= {now}) AND (c.ends_at <= {now} OR c.count < {max_hits})
"""
_INCREMENT: Final = """
INSERT INTO limits_counter AS c ({columns})
VALUES {row}
ON CONFLICT (tenant_id, kind, key_hash) DO UPDATE SET
    count = CASE WHEN c.ends_at <= {now} THEN 1 ELSE c.count + 1 END,
    ends_at = CASE WHEN c.ends_at <= {now} THEN EXCLUDED.ends_at ELSE c.ends_at END
RETURNING count, {resets_in}
"""
_RESETS_IN: Final = {
    "postgresql": "CEIL(EXTRACT(EPOCH FROM ends_at - STATEMENT_TIMESTAMP()))::integer",
    "sqlite": "CAST((JULIANDAY(ends_at) - JULIANDAY('now')) * 86400 AS integer) + 1",
}
_LATER: Final = {
    "postgresql": "({moment} + {seconds} * INTERVAL '1 second')",
    "sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f000', {moment}, ({seconds}) || ' seconds')",
}
_NOW: Final = {
    "postgresql": "STATEMENT_TIMESTAMP()",
    "sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f000', 'now')",
}


def count_hits(hits: Sequence[Hit]) -> Refusal | None:
    """Count all hits and return None, or count none and return the first refusal. A rollback undoes hits."""
    ordered = sorted(hits, key=lambda hit: hit.rule.kind)
    with transaction.atomic() if len(ordered) > 1 else nullcontext():
        if _count_allowed(ordered) == len(ordered):
            return None
        if len(ordered) > 1:
            transaction.set_rollback(True)
    return get_refusal(hits)


def increment(hit: Hit) -> Window:
    """Count a hit, even beyond its limit, and return the window."""
    rule, vendor = hit.rule, connection.vendor
    now, later = _NOW[vendor], _LATER[vendor]
    row = _ROW.format(ends_at=later.format(moment=now, seconds=rule.seconds), now=now)
    values = _values(hit)
    statement = _INCREMENT.format(columns=_COLUMNS, row=row, now=now, resets_in=_RESETS_IN[vendor])
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return Window(*cursor.fetchone())


def is_any_reached(hits: Sequence[Hit]) -> bool:
    """Return whether one of these limits is reached. Nothing is counted."""
    max_hits = {
        (hit.rule.kind, hit.key_hash): hit.rule.max_hits for hit in hits if isinstance(hit.rule, Limit)
    }
    rows = _rows(hits).filter(ends_at__gt=DatabaseNow()).values_list("kind", "key_hash", "count")
    return any(count >= max_hits.get((kind, key_hash), _UNLIMITED) for kind, key_hash, count in rows)


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
    """Delete all counters of groups."""
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


def _count_allowed(hits: Sequence[Hit]) -> int:
    """Count the hits that are allowed, and return their number."""
    values = [value for hit in hits for value in _values(hit)]
    with connection.cursor() as cursor:
        cursor.execute(_hit_sql([hit.rule for hit in hits], connection.vendor), values)
        return int(cursor.rowcount)


def _values(hit: Hit) -> tuple[Any, ...]:
    """Return the values of the parameters of a row."""
    pk = Counter._meta.pk.get_db_prep_value(ids.new(), connection)
    return pk, tenancy.active_id(), hit.rule.kind, hit.key_hash, hit.group_hash


def _hit_sql(rules: Sequence[Limit | Lock], vendor: str) -> str:
    now, later = _NOW[vendor], _LATER[vendor]
    lock_seconds = _lock_seconds([rule for rule in rules if isinstance(rule, Lock)])
    rows = [_ROW.format(ends_at=later.format(moment=now, seconds=rule.seconds), now=now) for rule in rules]
    return _HIT.format(
        columns=_COLUMNS,
        rows=", ".join(rows),
        now=now,
        max_hits=_max_hits([rule for rule in rules if isinstance(rule, Limit)]),
        locked=later.format(moment=now, seconds=lock_seconds),
        extended=later.format(moment="EXCLUDED.ends_at", seconds=lock_seconds),
    )


def _max_hits(limits: list[Limit]) -> str:
    # Kinds are constants of the code, so it is safe to put them into SQL.
    whens = [f"WHEN c.kind = '{limit.kind}' THEN {limit.max_hits}" for limit in limits]
    return f"CASE {' '.join(whens)} ELSE {_UNLIMITED} END" if whens else str(_UNLIMITED)


def _lock_seconds(locks: list[Lock]) -> str:
    """Return the SQL for the seconds that one more failure locks, or NULL."""
    whens = []
    for lock in locks:
        enough = lock.failures - 1
        seconds = " ".join(f"WHEN {enough + more} THEN {span}" for more, span in enumerate(LOCK_SECONDS))
        seconds = f"CASE c.count {seconds} ELSE {LOCK_SECONDS[-1]} END"
        whens.append(f"WHEN c.kind = '{lock.kind}' AND c.count >= {enough} THEN {seconds}")
    return f"CASE {' '.join(whens)} END" if whens else "CAST(NULL AS integer)"


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
