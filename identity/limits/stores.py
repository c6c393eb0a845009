"""Where it is counted: in the Redis that all nodes share, if it is there and answers, or in the database."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from django.conf import settings
from django.db.models import Model
from prometheus_client import Counter

from database.redis import Unavailable
from database.statements import Insert, all_or_nothing
from identity.limits import in_database, in_redis
from identity.limits.rules import Limit, Refusal, Tally, Try

_COUNTED: Final = Counter("gatehouse_limits_counted", "What was counted for limits, by where.", ["store"])
_REFUSED: Final = Counter("gatehouse_limits_refused", "Requests that a limit or a lock refused.", ["limit"])
T = TypeVar("T")


class Store(Protocol):
    """What counts."""

    def count(self, tries: Sequence[Try]) -> Refusal | None:
        """Count all of them at once, or none and return the first that is one too many."""

    def tally(self, tried: Try) -> Tally:
        """Count one more, however many there were."""

    def is_any_reached(self, tries: Sequence[Try]) -> bool:
        """Tell whether one of these limits is reached."""

    def give_back(self, tries: Sequence[Try], *, cleared: str = "") -> None:
        """Take back what ``count`` counted, and all failures of the kind ``cleared``."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Who counted, who alone can give back, and what was one too many."""

    store: Store
    refusal: Refusal | None


def count(tries: Sequence[Try]) -> Counted:
    """Count all of them at once, or none. No limit is ever off: the database counts what Redis does not."""
    counted = _ask(lambda store: Counted(store, store.count(tries)))
    note_refusal(counted.refusal)
    return counted


def count_with(tried: Try, insert: Insert, row: Model) -> Refusal | None:
    """Count one and insert a row, or do neither. Where rows are counted it is one statement on PostgreSQL."""
    if settings.CACHE_URL:
        counted = count([tried])
        if counted.refusal is None:
            insert(row)
        return counted.refusal
    _COUNTED.labels("database").inc()
    assert isinstance(tried.rule, Limit)  # noqa: S101 - locks are counted with ``count``
    if all_or_nothing(in_database.counting(tried.rule), in_database.values_of(tried), (insert, row)):
        return None
    refusal = in_database.refusal_of(tried)
    note_refusal(refusal)
    return refusal


def tally(tried: Try) -> Tally:
    """Count one more, however many there were."""
    return _ask(lambda store: store.tally(tried))


def is_any_reached(tries: Sequence[Try]) -> bool:
    """Tell whether one of these limits is reached. Nothing is counted."""
    return _ask(lambda store: store.is_any_reached(tries))


def note_refusal(refusal: Refusal | None) -> None:
    """Count a refusal for Prometheus."""
    if refusal is not None:
        _REFUSED.labels(refusal.refused.rule.kind).inc()


def _ask(question: Callable[[Store], T]) -> T:
    if settings.CACHE_URL:
        with suppress(Unavailable):
            answer = question(in_redis)
            _COUNTED.labels("redis").inc()
            return answer
    answer = question(in_database)
    _COUNTED.labels("database").inc()
    return answer
