"""Where it is counted: in the Redis that all nodes share, if it is there and answers, or in the database."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from django.conf import settings
from prometheus_client import Counter

from identity.core import shared
from identity.limits import in_database, in_redis
from identity.limits.rules import Refusal, Try

_COUNTED: Final = Counter("gatehouse_limits_counted", "What was counted for limits, by where.", ["store"])


class Store(Protocol):
    """What counts."""

    def count(self, tries: Sequence[Try]) -> Refusal | None:
        """Count all of them at once, or none and return the first that is one too many."""

    def give_back(self, tries: Sequence[Try], *, cleared: str = "") -> None:
        """Take back what ``count`` counted, and all failures of the kind ``cleared``."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Who counted, who alone can give back, and what was one too many."""

    store: Store
    refusal: Refusal | None


def count(tries: Sequence[Try]) -> Counted:
    """Count all of them at once, or none. No limit is ever off: the database counts what Redis does not."""
    if settings.CACHE_URL:
        with suppress(shared.Away):
            counted = Counted(in_redis, in_redis.count(tries))
            _COUNTED.labels("redis").inc()
            return counted
    counted = Counted(in_database, in_database.count(tries))
    _COUNTED.labels("database").inc()
    return counted
