"""The stores of counters: Redis if ``CACHE_URL`` is set and Redis answers, otherwise the database."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from django.conf import settings
from django.db import models
from prometheus_client import Counter

from database.chains import Chain
from database.redis import Unavailable
from database.statements import Insert
from identity.limits import in_database, in_redis, rules
from identity.limits.rules import ActiveLock, Hit, Limit, Lock, Refusal, Window

_COUNTED: Final = Counter("gatehouse_limits_counted", "What was counted for limits, by store.", ["store"])
_REFUSED: Final = Counter("gatehouse_limits_refused", "Requests that a limit or a lock refused.", ["limit"])
# A series that appears only with its first event gives no alarm for this event.
for _store in ("redis", "database"):
    _COUNTED.labels(_store)
for _rule in vars(rules).values():
    if isinstance(_rule, Limit | Lock):
        _REFUSED.labels(_rule.kind)
T = TypeVar("T")


class Store(Protocol):
    """A store of counters."""

    def count_hits(self, hits: Sequence[Hit]) -> Refusal | None:
        """Count all hits and return None, or count none and return the first refusal."""

    def count_and_insert(self, hit: Hit, insert: Insert, row: models.Model) -> Refusal | None:
        """Count a hit, insert a row and return None, or do neither and return the refusal."""

    def increment(self, hit: Hit) -> Window:
        """Count a hit, even beyond its limit, and return the window."""

    def is_any_reached(self, hits: Sequence[Hit]) -> bool:
        """Return whether one of these limits is reached."""

    def undo(self, hits: Sequence[Hit], *, cleared_kind: str = "", chain: Chain | None = None) -> None:
        """Undo hits, and clear the counters of ``cleared_kind``, when the writes of ``chain`` are made."""

    def get_locks(self, group_hashes: Sequence[str]) -> list[ActiveLock]:
        """Return the active locks of groups, the longest first."""

    def clear(self, group_hashes: Sequence[str]) -> bool:
        """Delete all counters of groups, and return whether that was possible."""


@dataclass(frozen=True, slots=True)
class Result:
    """The store that counted the hits, which is needed to undo them, and the refusal or None."""

    store: Store
    refusal: Refusal | None


def count_hits(hits: Sequence[Hit]) -> Result:
    """Count all hits, or none of them if one is refused."""
    result = _run(lambda store: Result(store, store.count_hits(hits)))
    count_refusal(result.refusal)
    return result


def count_and_insert(hit: Hit, insert: Insert, row: models.Model) -> Refusal | None:
    """Count a hit and insert a row, or do neither if the hit is refused. Return the refusal."""
    refusal = _run(lambda store: store.count_and_insert(hit, insert, row))
    count_refusal(refusal)
    return refusal


def increment(hit: Hit) -> Window:
    """Count a hit, even beyond its limit, and return the window."""
    return _run(lambda store: store.increment(hit))


def is_any_reached(hits: Sequence[Hit]) -> bool:
    """Return whether one of these limits is reached. Nothing is counted."""
    return _run(lambda store: store.is_any_reached(hits))


def get_locks(group_hashes: Sequence[str]) -> list[ActiveLock]:
    """Return the active locks of groups, the longest first."""
    return _run(lambda store: store.get_locks(group_hashes))


def clear(group_hashes: Sequence[str]) -> bool:
    """Delete all counters of groups, and return whether that was possible in both stores.

    The database counts while Redis does not answer.
    """
    is_complete = in_redis.clear(group_hashes) if settings.CACHE_URL else True
    return in_database.clear(group_hashes) and is_complete


def count_refusal(refusal: Refusal | None) -> None:
    """Count a refusal for Prometheus."""
    if refusal is not None:
        _REFUSED.labels(refusal.hit.rule.kind).inc()


def _run(request: Callable[[Store], T]) -> T:
    """Run a request in Redis, or in the database if Redis does not answer: limits always apply."""
    if settings.CACHE_URL:
        with suppress(Unavailable):
            result = request(in_redis)
            _COUNTED.labels("redis").inc()
            return result
    result = request(in_database)
    _COUNTED.labels("database").inc()
    return result
