"""The statements that count hits as rows. Their ``WHERE`` applies the limits.

The clock of the database is used, which all nodes share.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from django.db.backends.base.base import BaseDatabaseWrapper

from database import ids
from database.parameters import Parameter
from database.statements import CompiledStatement, Statement
from identity.core import tenancy
from identity.core.tenant_statements import text, uuid
from identity.limits.rules import LOCK_SECONDS, Hit, Limit, Lock

Rules = tuple[Limit | Lock, ...]
UNLIMITED: Final = 2**31 - 1
_COLUMNS: Final = "id, tenant_id, kind, key_hash, group_hash, count, ends_at, created_at, updated_at"
# Kinds and seconds are constants of the code, so it is safe to put them into SQL.
_ROW: Final = "(%s, %s, '{kind}', %s, %s, 1, {ends_at}, {now}, {now})"
_IS_ALLOWED: Final = (
    "(c.locked_until IS NULL OR c.locked_until <= {now}) AND (c.ends_at <= {now} OR c.count < {max_hits})"
)
# After a window ends, the next hit starts a new one. A lock extends its window, so the next failure
# causes a longer lock. Nodes of release 0.1.3 insert counters without a group; the next hit adds it.
_HIT: Final = """
INSERT INTO limits_counter AS c ({columns})
{rows}
ON CONFLICT (tenant_id, kind, key_hash) DO UPDATE SET
    group_hash = EXCLUDED.group_hash,
    count = CASE WHEN c.ends_at <= {now} THEN 1 ELSE c.count + 1 END,
    ends_at = CASE WHEN c.ends_at <= {now} THEN EXCLUDED.ends_at ELSE COALESCE({extended}, c.ends_at) END,
    locked_until = CASE WHEN c.ends_at <= {now} THEN NULL ELSE {locked} END
WHERE {is_allowed}
"""
# If some hits are counted and others are not, the division by zero undoes them. Hits that were refused
# before the statement began cause no error, or a flood would fill the log of the database.
_TOGETHER: Final = """
WITH counted AS ({hit} RETURNING 1)
SELECT COUNT(*) / CASE WHEN COUNT(*) IN (0, {number}) THEN 1 ELSE 0 END FROM counted
"""
_UNLESS_REFUSED: Final = "SELECT * FROM (VALUES {rows}) AS hit WHERE NOT EXISTS ({refused})"
_REFUSED: Final = """
SELECT 1 FROM limits_counter AS c
WHERE c.tenant_id = %s AND c.kind = '{kind}' AND c.key_hash = %s AND NOT ({is_allowed})
"""
_INCREMENT: Final = """
INSERT INTO limits_counter AS c ({columns})
VALUES {rows}
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


class _OfRules(Statement[CompiledStatement]):
    """A statement that writes a row for a hit of each of these rules."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules: Final = rules


class CountHits(_OfRules):
    """Counts those hits that are allowed."""

    def compile(self, database: BaseDatabaseWrapper) -> CompiledStatement:
        rows = f"VALUES {_get_rows(self._rules, database.vendor)}"
        return CompiledStatement(
            _get_sql(self._rules, database.vendor, rows), _get_parameters(self._rules), database
        )


class CountTogether(_OfRules):
    """Counts all hits or none, and returns their number. PostgreSQL only."""

    def compile(self, database: BaseDatabaseWrapper) -> CompiledStatement:
        rules, vendor = self._rules, database.vendor
        refused = [_REFUSED.format(kind=rule.kind, is_allowed=_is_allowed([rule], vendor)) for rule in rules]
        rows = _UNLESS_REFUSED.format(rows=_get_rows(rules, vendor), refused=" UNION ALL ".join(refused))
        statement = _TOGETHER.format(hit=_get_sql(rules, vendor, rows), number=len(rules))
        keys = [key for number in range(len(rules)) for key in (text("tenant_id"), text(f"key_hash{number}"))]
        return CompiledStatement(statement, [*_get_parameters(rules), *keys], database)


class Increment(_OfRules):
    """Counts a hit, even beyond the limit, and returns the number of hits and the seconds of the window."""

    def compile(self, database: BaseDatabaseWrapper) -> CompiledStatement:
        statement = _INCREMENT.format(
            columns=_COLUMNS,
            rows=_get_rows(self._rules, database.vendor),
            now=_NOW[database.vendor],
            resets_in=_RESETS_IN[database.vendor],
        )
        return CompiledStatement(statement, _get_parameters(self._rules), database)


get_count: Final = lru_cache(maxsize=64)(CountHits)
get_count_together: Final = lru_cache(maxsize=64)(CountTogether)
get_increment: Final = lru_cache(maxsize=64)(Increment)


def get_values(hits: Sequence[Hit]) -> dict[str, Any]:
    """Return the values of the parameters for these hits, in the active tenant."""
    values: dict[str, Any] = {"tenant_id": tenancy.active_id()}
    for number, hit in enumerate(hits):
        values[f"id{number}"] = ids.new()
        values[f"key_hash{number}"] = hit.key_hash
        values[f"group_hash{number}"] = hit.group_hash
    return values


def _get_parameters(rules: Rules) -> list[Parameter]:
    return [
        parameter
        for number in range(len(rules))
        for parameter in (
            uuid(f"id{number}"),
            text("tenant_id"),
            text(f"key_hash{number}"),
            text(f"group_hash{number}"),
        )
    ]


def _get_rows(rules: Rules, vendor: str) -> str:
    now, later = _NOW[vendor], _LATER[vendor]
    return ", ".join(
        _ROW.format(kind=rule.kind, ends_at=later.format(moment=now, seconds=rule.seconds), now=now)
        for rule in rules
    )


def _get_sql(rules: Rules, vendor: str, rows: str) -> str:
    """Return the statement that inserts the rows of hits, or adds the hits to existing counters."""
    now, later = _NOW[vendor], _LATER[vendor]
    lock_seconds = _get_lock_seconds([rule for rule in rules if isinstance(rule, Lock)])
    return _HIT.format(
        columns=_COLUMNS,
        rows=rows,
        now=now,
        is_allowed=_is_allowed(rules, vendor),
        locked=later.format(moment=now, seconds=lock_seconds),
        extended=later.format(moment="EXCLUDED.ends_at", seconds=lock_seconds),
    )


def _is_allowed(rules: Sequence[Limit | Lock], vendor: str) -> str:
    """Return the SQL condition that a counter allows a further hit."""
    whens = [f"WHEN c.kind = '{rule.kind}' THEN {rule.max_hits}" for rule in rules if isinstance(rule, Limit)]
    max_hits = f"CASE {' '.join(whens)} ELSE {UNLIMITED} END" if whens else str(UNLIMITED)
    return _IS_ALLOWED.format(now=_NOW[vendor], max_hits=max_hits)


def _get_lock_seconds(locks: list[Lock]) -> str:
    """Return the SQL for how many seconds the next failure locks, or NULL if it does not lock."""
    whens = []
    for lock in locks:
        first = lock.failures - 1  # the failures after which the next one locks
        seconds = " ".join(f"WHEN {count} THEN {span}" for count, span in enumerate(LOCK_SECONDS, first))
        seconds = f"CASE c.count {seconds} ELSE {LOCK_SECONDS[-1]} END"
        whens.append(f"WHEN c.kind = '{lock.kind}' AND c.count >= {first} THEN {seconds}")
    return f"CASE {' '.join(whens)} END" if whens else "CAST(NULL AS integer)"
