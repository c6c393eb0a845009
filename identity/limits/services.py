"""Counting what may be done so often and no oftener, and locking out who guesses."""

import ipaddress
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db.models import Model

from audit import context
from database.statements import Entailed, Insert
from identity.core.errors import ServiceError
from identity.limits import in_database, stores
from identity.limits.rules import Limit, Lock, Tally, Try

_IPV6_NETWORK: Final = 64  # what one customer of a provider has at least


class TooMany(ServiceError):
    """This was done too often lately."""

    status = 429
    reason = "rate_limited"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"too many requests: try again in {seconds} seconds", headers={"Retry-After": str(seconds)}
        )


def take(*tries: tuple[Limit, str], refusal: Callable[[int], Exception] = TooMany) -> None:
    """Count one of each, or none. What is rolled back does not count where rows are counted.

    Raises:
        TooMany: a limit is reached; or what ``refusal`` makes of the seconds to wait.

    """
    refused = stores.count([Try(limit, key) for limit, key in tries]).refusal
    if refused:
        raise refusal(refused.seconds)


def take_by_address(limit: Limit) -> None:
    """Count one for the client's address.

    Raises:
        TooMany: the limit is reached.

    """
    take((limit, client_network()))


def take_with(limit: Limit, key: str, insert: Insert, row: Model) -> None:
    """Count one and insert a row, or do neither.

    Raises:
        TooMany: the limit is reached.

    """
    refused = stores.count_with(Try(limit, key), insert, row)
    if refused:
        raise TooMany(refused.seconds)


def tally(limit: Limit, key: str) -> Tally:
    """Count one more and return how many there are in the window. Nothing is refused."""
    return stores.tally(Try(limit, key))


def is_any_reached(*tries: tuple[Limit, str]) -> bool:
    """Tell whether one of these limits is reached, without counting."""
    return stores.is_any_reached([Try(limit, key) for limit, key in tries])


class Guess:
    """A guess under way: counted as a failure until it turns out to be none."""

    def __init__(self, locks: list[Try], counted: stores.Counted) -> None:
        self._locks = locks
        # A right guess clears a lock; of a limit it takes only itself back.
        self._cleared = locks[0].rule.kind if isinstance(locks[0].rule, Lock) else ""
        self._counted = counted
        self._refusal = counted.refusal
        self._is_counted = counted.refusal is None
        self._is_entailed = False

    def check(self, locked: Callable[[int], Exception]) -> None:
        """Go on only if not too many failed before.

        Raises:
            Exception: what ``locked`` makes of the seconds to wait.

        """
        if self._refusal:
            raise locked(self._refusal.seconds)

    def was_right(self) -> None:
        """Clear the first, if it is a lock, and take the guess back from the others.

        Call it in the transaction of what the guess leads to; if that is rolled back, so is this.
        """
        if self._is_entailed:
            self._is_counted = False
        self.take_back(cleared=self._cleared)

    def entailed(self) -> list[Entailed]:
        """Return what ``was_right`` does as updates that the success entails; call it all the same, later."""
        if not self._is_counted or self._counted.store is not in_database:
            return []
        self._is_entailed = True
        return [in_database.giving_back(self._locks, cleared=self._cleared)]

    def take_back(self, *, cleared: str = "") -> None:
        """Never have counted."""
        if self._is_counted:
            self._counted.store.give_back(self._locks, cleared=cleared)
            self._is_counted = False


@contextmanager
def guessing(
    *locks: tuple[Lock | Limit, str], failure: type[Exception], within: Limit | None = None
) -> Iterator[Guess]:
    """Do a guess of the block, which is counted before the block runs.

    So guesses that are made at once cannot slip through together. The block asks ``check``. When
    it raises ``failure`` the guess stays counted; when it succeeds, ``was_right``; when it ends
    otherwise, the guess never counted. A ``Limit`` among the locks counts wrong guesses alone.
    ``within`` is a limit of the client's address, which counts however the guess ends.

    Raises:
        TooMany: the limit is reached.

    """
    guess = _begun([Try(lock, key) for lock, key in locks], within)
    try:
        yield guess
    except failure:
        raise
    except BaseException:
        guess.take_back()
        raise
    guess.was_right()


@contextmanager
def guarded(
    *locks: tuple[Lock, str],
    failure: type[Exception],
    locked: Callable[[int], Exception],
    within: Limit | None = None,
) -> Iterator[Guess]:
    """Do a guess of the block as ``guessing`` does, unless too many failed before it.

    Raises:
        Exception: what ``locked`` makes of the seconds to wait.
        TooMany: the limit ``within`` is reached.

    """
    with guessing(*locks, failure=failure, within=within) as guess:
        guess.check(locked)
        yield guess


def _begun(locks: list[Try], within: Limit | None) -> Guess:
    if within is None:
        return Guess(locks, stores.count(locks))
    by_address = Try(within, client_network())
    counted = stores.count([by_address, *locks])
    if counted.refusal:
        if counted.refusal.refused is by_address:
            raise TooMany(counted.refusal.seconds)
        take_by_address(within)  # nothing was counted: who is locked out counts for the address all the same
    return Guess(locks, counted)


def client_network() -> str:
    """Return the client's address; of IPv6 the network, since one client has more than can be counted.

    Requests without an address, by a Unix socket, count as one client.
    """
    try:
        parsed = ipaddress.ip_address(context.current().ip)
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return str(parsed)
