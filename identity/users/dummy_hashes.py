"""Dummy hashes for unknown identifiers, so that a wrong password takes the same time as for a user.

In a tenant with imported hashes the time to refuse a wrong password depends on the format of the user's hash.
So an unknown identifier gets a format too. An HMAC of the identifier picks one, with the probability of the
format in the tenant.
"""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, Q

from identity.core import tenancy
from identity.encryption import keyring
from identity.users import hash_formats, row_counts
from identity.users.models import User

_PURPOSE: Final = "dummy password hashes"
_CACHE_SECONDS: Final = 60.0  # at least
_MAX_SHARE_OF_TIME: Final = 0.01  # spent on counting: the result of a slow count is cached for longer
_TIMEOUT: Final = 5.0  # seconds that the first sign-in of a tenant waits for the count
_MAX_FORMATS: Final = 32
_logger: Final = logging.getLogger("gatehouse.passwords")


@dataclass(frozen=True, slots=True)
class Format:
    """A hash format: its share of the tenant's users, and a dummy hash with the same costs."""

    share: float
    dummy: str


class _Proportions:
    """A cache of the foreign formats of each tenant. A separate thread counts them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, tuple[Format, ...]]] = {}
        self._pending: dict[str, Future[tuple[Format, ...]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hash-formats")

    def get(self, tenant: tenancy.ActiveTenant) -> tuple[Format, ...]:
        """Return the cached formats. Only the first request of a tenant waits for the count."""
        known = self._known.get(tenant.id)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        with self._lock:
            counting = self._pending.get(tenant.id)
            if counting is None:
                counting = self._pending[tenant.id] = self._thread.submit(self._count, tenant)
        if known is not None:
            return known[1]
        try:
            return counting.result(_TIMEOUT)
        except (DatabaseError, TimeoutError):
            _logger.warning("the formats of password hashes could not be counted", exc_info=True)
            return ()

    def forget(self, tenant_id: str) -> None:
        """Drop a tenant from the cache."""
        self._known.pop(tenant_id, None)

    def _count(self, tenant: tenancy.ActiveTenant) -> tuple[Format, ...]:
        began = time.monotonic()
        try:
            with tenancy.using(tenant):
                formats = count_formats()
            now = time.monotonic()
            cached_for = max(_CACHE_SECONDS, (now - began) / _MAX_SHARE_OF_TIME)
            self._known[tenant.id] = (now + cached_for, formats)
            return formats
        finally:
            with self._lock:
                del self._pending[tenant.id]
                is_last = not self._pending
            if is_last:
                connection.close()


_proportions: Final = _Proportions()


def get_dummy(identifier: str) -> str:
    """Return the dummy hash for an unknown identifier, or an empty string for the format of Gatehouse.

    An identifier gets the same dummy hash until the shares of the formats change.
    """
    formats = _proportions.get(tenancy.active())
    return _pick(formats, _position(identifier)) if formats else ""


def recount() -> None:
    """Count the formats of the active tenant again at the next sign-in, because a hash was added."""
    _proportions.forget(tenancy.active_id())


def count_formats() -> tuple[Format, ...]:
    """Return the foreign formats of the active tenant, in a stable order."""
    foreign = User.objects.exclude(password="").exclude(password__startswith=hash_formats.OURS)
    samples: dict[str, str] = {}
    while len(samples) < _MAX_FORMATS:
        others = foreign
        for prefix in samples:
            others = others.exclude(password__startswith=prefix)
        found = list(others.order_by().values_list("password", flat=True)[:1])
        if not found:
            break
        prefix = hash_formats.cost_prefix(found[0])
        if not found[0].startswith(prefix):
            break  # an unknown format: the next query would find the same hash again
        samples[prefix] = found[0]
    if not samples:
        return ()
    prefixes = sorted(samples)
    counts = foreign.aggregate(
        **{f"of_{n}": Count("pk", filter=Q(password__startswith=prefix)) for n, prefix in enumerate(prefixes)}
    )
    users = max(row_counts.count_users(), 1)
    return tuple(
        Format(counts[f"of_{n}"] / users, hash_formats.new_dummy(samples[prefix]))
        for n, prefix in enumerate(prefixes)
    )


def _position(identifier: str) -> float:
    """Return a number from 0 to 1 for an identifier. It does not change when an encryption key is added."""
    oldest = next(reversed(settings.ENCRYPTION_KEYS))
    mac = keyring.mac(f"{tenancy.active_id()} {identifier}", purpose=_PURPOSE, key_id=oldest)
    return int.from_bytes(mac[:8]) / 2**64


def _pick(formats: tuple[Format, ...], position: float) -> str:
    """Return the dummy hash whose interval contains a position, or an empty string between the intervals.

    Each format has an interval as long as its share, from the left and the right end of 0 to 1 in turn. A
    sign-in replaces a foreign hash by one of Gatehouse, so the intervals shrink towards the ends. The format
    of an unknown identifier then changes as that of a user does: to that of Gatehouse, and never back.
    """
    left, right = 0.0, 1.0
    for number, candidate in enumerate(formats):
        if number % 2 == 0:
            if left <= position < left + candidate.share:
                return candidate.dummy
            left += candidate.share
        else:
            if right - candidate.share <= position < right:
                return candidate.dummy
            right -= candidate.share
    return ""
