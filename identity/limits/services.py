"""Counting what may be done so often and no oftener, and locking out who guesses.

Every count is one ``UPDATE`` whose ``WHERE`` holds the limit, so many requests at once are
counted exactly, on both engines.
"""

import ipaddress
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, Q, QuerySet, Value, When
from django.utils import timezone

from audit import context
from audit.clock import DatabaseNow, seconds_ahead
from identity.core import keyring
from identity.core.errors import ServiceError
from identity.limits.models import Counter

_PURPOSE: Final = "limits"
_IPV6_NETWORK: Final = 64  # what one customer of a provider has at least


@dataclass(frozen=True, slots=True)
class Limit:
    """So many in so many seconds."""

    kind: str
    most: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Lock:
    """So many failures in so many seconds lock for a time that doubles with each further failure.

    ``first`` and ``longest`` are seconds; the first failure of all never locks.
    """

    kind: str
    failures: int
    seconds: int
    first: int = 60
    longest: int = 3600

    def span(self, count: int) -> int:
        """Return for how many seconds this many failures lock."""
        return min(self.first << min(count - self.failures, 16), self.longest)


class TooMany(ServiceError):
    """This was done too often lately."""

    status = 429
    reason = "rate_limited"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many requests: try again in {seconds} seconds", headers={"Retry-After": str(seconds)}
        )


def take(limit: Limit, key: str, *, refusal: Callable[[int], Exception] = TooMany) -> None:
    """Count one. In a transaction that is rolled back it does not count.

    Raises:
        TooMany: the limit is reached; or what ``refusal`` makes of the seconds to wait.

    """
    rows = _rows(limit.kind, key)
    free = rows.filter(Q(ends_at__lte=DatabaseNow()) | Q(count__lt=limit.most))
    if not _counted(free, limit, key, {}):
        raise refusal(_seconds_until(rows.values_list("ends_at", flat=True).first()))


def take_by_address(limit: Limit) -> None:
    """Count one for the client's address.

    Raises:
        TooMany: the limit is reached.

    """
    take(limit, client_network())


@contextmanager
def guarded(
    *tries: tuple[Lock, str],
    failure: type[Exception],
    locked: Callable[[int], Exception],
) -> Iterator[None]:
    """Do a guess of the block, unless too many failed before it.

    Each try is counted before the block runs, so that guesses that are made at once cannot
    slip through together. A block that raises ``failure`` stays counted; one that succeeds
    clears the first lock; one that ends otherwise never counted.

    Raises:
        Exception: what ``locked`` makes of the seconds to wait.

    """
    with transaction.atomic():
        for lock, key in tries:
            rows = _rows(lock.kind, key)
            free = rows.filter(Q(locked_until=None) | Q(locked_until__lte=DatabaseNow()))
            if not _counted(free, lock, key, {"locked_until": _locked_until(lock)}):
                raise locked(_seconds_until(rows.values_list("locked_until", flat=True).first()))
    try:
        yield
    except failure:
        raise
    except BaseException:
        _give_back(tries)
        raise
    _give_back(tries, cleared=tries[0][0].kind)


def _give_back(tries: tuple[tuple[Lock, str], ...], *, cleared: str = "") -> None:
    # One statement each: a sign-in that begins holds several rows in an order of its own.
    for lock, key in tries:
        left = Value(0) if lock.kind == cleared else F("count") - 1
        _rows(lock.kind, key).filter(count__gt=0).update(count=left, locked_until=None)


def _counted(free: QuerySet[Counter], rule: Limit | Lock, key: str, more: dict[str, Any]) -> bool:
    """Count one in a row that is free; make the row where there is none."""
    over = Q(ends_at__lte=DatabaseNow())
    fields = {
        "count": Case(When(over, then=Value(1)), default=F("count") + 1),
        "ends_at": _ends_at(rule, over),
        **more,
    }
    if free.update(**fields):
        return True
    with suppress(IntegrityError), transaction.atomic():
        Counter.objects.create(
            kind=rule.kind, key_hash=_hash(rule.kind, key), count=1, ends_at=seconds_ahead(rule.seconds)
        )
        return True
    # It was there, or came this moment.
    return bool(free.update(**fields))


def _ends_at(rule: Limit | Lock, over: Q) -> Case:
    whens = [When(over, then=seconds_ahead(rule.seconds))]
    if isinstance(rule, Lock):
        # The window goes on behind the lock: who fails again then is locked for longer.
        whens = [
            When(reached, then=seconds_ahead(span + rule.seconds)) for reached, span in _spans(rule)
        ] + whens
    return Case(*whens, default=F("ends_at"))


def _locked_until(lock: Lock) -> Case:
    whens = [When(reached, then=seconds_ahead(span)) for reached, span in _spans(lock)]
    return Case(*whens, default=Value(None), output_field=DateTimeField())


def _spans(lock: Lock) -> list[tuple[Q, int]]:
    """Return for how long the failure that is being counted locks, the longest first."""
    live = Q(ends_at__gt=DatabaseNow())
    last = next(count for count in itertools.count(lock.failures) if lock.span(count) == lock.longest)
    return [
        (live & Q(count__gte=count - 1), lock.span(count)) for count in range(last, lock.failures - 1, -1)
    ]


def _rows(kind: str, key: str) -> QuerySet[Counter]:
    return Counter.objects.filter(kind=kind, key_hash=_hash(kind, key))


def _hash(kind: str, key: str) -> str:
    return keyring.digest(f"{kind} {key}", purpose=_PURPOSE)


def _seconds_until(moment: datetime | None) -> int:
    left = (moment - timezone.now()).total_seconds() if moment else 0
    return max(1, int(left) + 1)


def client_network() -> str:
    """Return the client's address; of IPv6 the network, since one client has more than can be counted."""
    address = context.current().ip
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return str(parsed)
