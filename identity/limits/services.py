"""Rate limits, and locks after failed login attempts."""

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, timedelta
from functools import lru_cache
from typing import Final

from django.db import models
from django.utils import timezone
from django.utils.translation import ngettext_lazy

from audit import context
from database import chains
from database.chains import Chain
from database.statements import Insert
from identity.core.errors import ServiceError
from identity.core.refusal_texts import fill
from identity.limits import stores
from identity.limits.rules import ActiveLock, Hit, Limit, Lock, Window, hash_group

_TRY_AGAIN: Final = ngettext_lazy(
    "too many requests: try again in %(count)s second", "too many requests: try again in %(count)s seconds",
    "count",
)  # fmt: skip
_IPV6_NETWORK: Final = 64  # bits: the smallest network that providers assign to a customer


class TooMany(ServiceError):
    """A limit is reached."""

    status = 429
    reason = "rate_limited"

    def __init__(self, resets_in: int) -> None:
        super().__init__(fill(_TRY_AGAIN, count=resets_in), headers={"Retry-After": str(resets_in)})


def hit(
    *hits: tuple[Lock | Limit, str], refusal: Callable[[int], Exception] = TooMany, group: str = ""
) -> None:
    """Count a hit on each limit or lock, or on none if one is reached.

    A rollback of the caller's transaction undoes hits in the database, but not in Redis. ``get_locks`` and
    ``clear_locks`` find the locks by their ``group``.

    Raises:
        TooMany: a limit or lock is reached. ``refusal`` can replace it: it gets the seconds to wait.

    """
    refused = stores.count_hits([Hit(rule, key, group) for rule, key in hits]).refusal
    if refused:
        raise refusal(refused.resets_in)


def hit_by_network(limit: Limit) -> None:
    """Count a hit for the client's network.

    Raises:
        TooMany: the limit is reached.

    """
    hit((limit, client_network()))


def insert_by_network(limit: Limit, insert: Insert, row: models.Model) -> None:
    """Count a hit for the client's network, and insert a row.

    On PostgreSQL both are one statement. With Redis, a hit counts even if the insert fails.

    Raises:
        TooMany: the limit is reached, and nothing is inserted.

    """
    refusal = stores.count_and_insert(Hit(limit, client_network()), insert, row)
    if refusal:
        raise TooMany(refusal.resets_in)


def increment(limit: Lock | Limit, key: str) -> Window:
    """Count a hit, even beyond the limit, and return the window."""
    return stores.increment(Hit(limit, key))


def test(*hits: tuple[Limit, str]) -> bool:
    """Return whether each limit allows another hit. Nothing is counted."""
    return not stores.is_any_reached([Hit(limit, key) for limit, key in hits])


class LoginAttempt:
    """An attempt to authenticate, counted as a failure until it succeeds."""

    def __init__(self, hits: list[Hit], result: stores.Result) -> None:
        self._hits = hits
        # Success clears a lock; from a limit it only removes its own hit.
        self._cleared_kind = hits[0].rule.kind if isinstance(hits[0].rule, Lock) else ""
        self._store = result.store
        self._refusal = result.refusal
        self._is_counted = result.refusal is None

    def check(self, locked: Callable[[int], Exception]) -> None:
        """Refuse the attempt if it is locked or a limit is reached.

        Raises:
            Exception: what ``locked`` returns for the seconds to wait.

        """
        if self._refusal:
            raise locked(self._refusal.resets_in)

    def succeed(self, chain: Chain | None = None) -> None:
        """Clear the first counter if it is a lock, and undo this attempt in the others.

        ``chain`` has the changes that the attempt allows. If they are not made, the attempt stays counted.
        """
        self._undo(chain, cleared_kind=self._cleared_kind)

    def cancel(self) -> None:
        """Undo this attempt in all counters."""
        self._undo()

    def _undo(self, chain: Chain | None = None, *, cleared_kind: str = "") -> None:
        if self._is_counted:
            with chains.joined(chain) as writes:
                self._store.undo(self._hits, cleared_kind=cleared_kind, chain=writes)
                writes.then(lambda: setattr(self, "_is_counted", False))


@contextmanager
def login_attempt(
    *rules: tuple[Lock | Limit, str],
    failure: type[Exception],
    locked: Callable[[int], Exception] | None = None,
    within: Limit | None = None,
    group: str = "",
) -> Iterator[LoginAttempt]:
    """Count the block as a failed login attempt before it runs, so that parallel attempts count too.

    The attempt stays counted if the block raises ``failure``. It succeeds if the block ends without an
    exception, and is cancelled by any other exception. ``within`` is a limit of the client's network,
    which counts every attempt. Without ``locked`` the block has to call ``check``. ``get_locks`` and
    ``clear_locks`` find the locks by their ``group``.

    Raises:
        Exception: what ``locked`` returns for the seconds to wait; earlier attempts reached a rule.
        TooMany: the limit ``within`` is reached.

    """
    attempt = _begin([Hit(rule, key, group) for rule, key in rules], within)
    try:
        if locked is not None:
            attempt.check(locked)
        yield attempt
    except failure:
        raise
    except BaseException:
        attempt.cancel()
        raise
    attempt.succeed()


def _begin(hits: list[Hit], within: Limit | None) -> LoginAttempt:
    if within is None:
        return LoginAttempt(hits, stores.count_hits(hits))
    by_network = Hit(within, client_network())
    result = stores.count_hits([by_network, *hits])
    if result.refusal:
        if result.refusal.hit is by_network:
            raise TooMany(result.refusal.resets_in)
        hit_by_network(within)  # nothing was counted, and locked attempts count for the network too
    return LoginAttempt(hits, result)


def get_locks(groups: Sequence[str]) -> list[ActiveLock]:
    """Return the active locks of groups, the longest first."""
    return stores.get_locks([hash_group(group) for group in groups])


def clear_locks(groups: Sequence[str]) -> bool:
    """End all locks of groups, and forget their failures. If Redis does not answer, the result is false."""
    return stores.clear([hash_group(group) for group in groups])


def get_lock_facts(seconds: int) -> dict[str, str]:
    """Return for the audit log until when an attempt is refused."""
    until = timezone.now() + timedelta(seconds=seconds)
    return {"locked_until": until.astimezone(UTC).isoformat(timespec="seconds")}


def client_network() -> str:
    """Return the network of the client, as ``network_of``."""
    return network_of(context.current().ip)


@lru_cache(maxsize=1024)
def network_of(ip: str) -> str:
    """Return an IPv4 address or IPv6 /64 network, because one IPv6 client has very many addresses.

    Requests from a Unix socket have no address and count as one client.
    """
    try:
        parsed = ipaddress.ip_address(ip)
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return str(parsed)
