"""Counters as rows. All that one request counts is one statement, whose ``WHERE`` holds the limits.

Rows are held in one order, that of their kinds, whoever counts: so nobody waits in a circle. The clock
is the database's, which all nodes share.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Case, F, QuerySet, Value, When

from database import ids
from database.clock import DatabaseNow
from database.id_lists import among_selected
from database.statements import Prepared, Statement
from identity.core import tenancy
from identity.core.tenant_statements import Update, text, uuid
from identity.limits.models import Counter
from identity.limits.rules import SPANS, Limit, Lock, Refusal, Tally, Try

_NEVER: Final = 2**31 - 1
_ROW: Final = "(%s, %s, %s, %s, 1, {ends_at}, {now}, {now})"
# A window that is over begins anew. One that a lock is in goes on behind it: who fails again then is
# locked for longer.
_COUNT: Final = """
INSERT INTO limits_counter AS c (id, tenant_id, kind, key_hash, count, ends_at, created_at, updated_at)
VALUES {rows}
ON CONFLICT (tenant_id, kind, key_hash) DO UPDATE SET
    count = CASE WHEN c.ends_at <= {now} THEN 1 ELSE c.count + 1 END,
    ends_at = CASE WHEN c.ends_at <= {now} THEN EXCLUDED.ends_at ELSE COALESCE({behind}, c.ends_at) END,
    locked_until = CASE WHEN c.ends_at <= {now} THEN NULL ELSE {locked} END
WHERE (c.locked_until IS NULL OR c.locked_until <= {now}) AND (c.ends_at <= {now} OR c.count < {most})
"""
_TALLY: Final = """
INSERT INTO limits_counter AS c (id, tenant_id, kind, key_hash, count, ends_at, created_at, updated_at)
VALUES {row}
ON CONFLICT (tenant_id, kind, key_hash) DO UPDATE SET
    count = CASE WHEN c.ends_at <= {now} THEN 1 ELSE c.count + 1 END,
    ends_at = CASE WHEN c.ends_at <= {now} THEN EXCLUDED.ends_at ELSE c.ends_at END
RETURNING count, {left}
"""
_LEFT: Final = {
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


def count(tries: Sequence[Try]) -> Refusal | None:
    """Count all of them, or none and return the first that is one too many.

    In a transaction that is rolled back they do not count.
    """
    ordered = sorted(tries, key=lambda each: each.rule.kind)
    with transaction.atomic() if len(ordered) > 1 else nullcontext():
        if _counted(ordered) == len(ordered):
            return None
        if len(ordered) > 1:
            transaction.set_rollback(True)
    return _refusal(tries)


def tally(tried: Try) -> Tally:
    """Count one more, however many there were, and return how many there are now."""
    rule, vendor = tried.rule, connection.vendor
    now, later = _NOW[vendor], _LATER[vendor]
    row = _ROW.format(ends_at=later.format(moment=now, seconds=rule.seconds), now=now)
    values = (_new_id(), tenancy.active_id(), rule.kind, tried.key_hash)
    with connection.cursor() as cursor:
        cursor.execute(_TALLY.format(row=row, now=now, left=_LEFT[vendor]), values)
        return Tally(*cursor.fetchone())


def is_any_reached(tries: Sequence[Try]) -> bool:
    """Tell whether one of these limits is reached. Nothing is counted."""
    full = {(each.rule.kind, each.key_hash): each.rule.most for each in tries if isinstance(each.rule, Limit)}
    rows = _rows(tries).filter(ends_at__gt=DatabaseNow()).values_list("kind", "key_hash", "count")
    return any(count >= full.get((kind, key_hash), _NEVER) for kind, key_hash, count in rows)


class Counting(Statement[Prepared]):
    """``count`` of one limit, for a chain: it changes a row unless the limit is reached."""

    def __init__(self, limit: Limit) -> None:
        super().__init__()
        self._limit: Final = limit

    def prepare(self, database: BaseDatabaseWrapper) -> Prepared:
        """Put it into SQL."""
        given = [uuid("id"), text("tenant_id"), text("kind"), text("key_hash")]
        return Prepared(_statement((self._limit,), database.vendor), given, database)


@lru_cache(maxsize=64)
def counting(limit: Limit) -> Counting:
    """Return the statement of a limit."""
    return Counting(limit)


def values_of(tried: Try) -> dict[str, object]:
    """Return the values with which ``Counting`` counts a try."""
    return {
        "id": ids.new(),
        "tenant_id": tenancy.active_id(),
        "kind": tried.rule.kind,
        "key_hash": tried.key_hash,
    }


def refusal_of(tried: Try) -> Refusal:
    """Return for how long a limit that was reached lets nothing through."""
    return _refusal([tried])


def give_back(tries: Sequence[Try], *, cleared: str = "") -> None:
    """Take back what ``count`` counted, and with it all failures of the kind ``cleared``."""
    statement, values = giving_back(tries, cleared=cleared)
    with transaction.atomic(savepoint=False):
        statement(**values)


def giving_back(tries: Sequence[Try], *, cleared: str = "") -> tuple[Update, dict[str, str]]:
    """Return the statement of ``give_back`` and its values, to be made part of a larger one."""
    values = {"cleared": cleared}
    for number, each in enumerate(tries):
        values |= {f"kind{number}": each.rule.kind, f"key_hash{number}": each.key_hash}
    return _giving_back(len(tries)), values


@lru_cache(maxsize=16)
def _giving_back(number: int) -> Update:
    kinds, hashes = ([text(f"{name}{each}") for each in range(number)] for name in ("kind", "key_hash"))

    def counted() -> QuerySet[Counter]:
        rows = Counter.objects.filter(kind__in=kinds, key_hash__in=hashes)
        held = rows.order_by("kind").select_for_update().values("pk")
        return Counter.objects.filter(among_selected("pk", held), count__gt=0)

    less = Case(When(kind=text("cleared"), then=Value(0)), default=F("count") - 1)
    return Update(counted, count=less, locked_until=None)


def _counted(tries: Sequence[Try]) -> int:
    """Count those that may be, and return how many they are."""
    tenant = tenancy.active_id()
    values = [value for each in tries for value in (_new_id(), tenant, each.rule.kind, each.key_hash)]
    with connection.cursor() as cursor:
        cursor.execute(_statement(tuple(each.rule for each in tries), connection.vendor), values)
        return int(cursor.rowcount)


def _new_id() -> Any:
    return Counter._meta.pk.get_db_prep_value(ids.new(), connection)


@lru_cache(maxsize=64)
def _statement(rules: tuple[Limit | Lock, ...], vendor: str) -> str:
    now, later = _NOW[vendor], _LATER[vendor]
    span = _span([rule for rule in rules if isinstance(rule, Lock)])
    rows = [_ROW.format(ends_at=later.format(moment=now, seconds=rule.seconds), now=now) for rule in rules]
    return _COUNT.format(
        rows=", ".join(rows),
        now=now,
        most=_most([rule for rule in rules if isinstance(rule, Limit)]),
        locked=later.format(moment=now, seconds=span),
        behind=later.format(moment="EXCLUDED.ends_at", seconds=span),
    )


def _most(limits: list[Limit]) -> str:
    # Kinds are words of ours, so they may stand in a statement.
    whens = [f"WHEN c.kind = '{limit.kind}' THEN {limit.most}" for limit in limits]
    return f"CASE {' '.join(whens)} ELSE {_NEVER} END" if whens else str(_NEVER)


def _span(locks: list[Lock]) -> str:
    """Return for how many seconds one more failure locks, or NULL."""
    whens = []
    for lock in locks:
        enough = lock.failures - 1
        spans = " ".join(f"WHEN {enough + more} THEN {span}" for more, span in enumerate(SPANS))
        spans = f"CASE c.count {spans} ELSE {SPANS[-1]} END"
        whens.append(f"WHEN c.kind = '{lock.kind}' AND c.count >= {enough} THEN {spans}")
    return f"CASE {' '.join(whens)} END" if whens else "CAST(NULL AS integer)"


def _refusal(tries: Sequence[Try]) -> Refusal:
    rows = {row.key_hash: row for row in _rows(tries).annotate(now=DatabaseNow())}
    for each in tries:
        row = rows.get(each.key_hash)
        if row is None:
            continue
        is_full = isinstance(each.rule, Limit) and row.count >= each.rule.most
        until = row.ends_at if is_full else row.locked_until
        if until and until > row.now:
            return Refusal(each, int((until - row.now).total_seconds()) + 1)
    return Refusal(tries[-1], 1)  # what was in the way is over this moment


def _rows(tries: Sequence[Try]) -> QuerySet[Counter]:
    return Counter.objects.filter(
        kind__in=[each.rule.kind for each in tries], key_hash__in=[each.key_hash for each in tries]
    )
