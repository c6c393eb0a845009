"""What a password is checked against when nobody has the identifier: the answer takes as long as for a user.

In a tenant with imported hashes the time of a wrong password says which form the hash has. An identifier
that nobody has gets a form, too: an HMAC of the identifier picks one in the proportions of the tenant.
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
from identity.users import hash_formats, totals
from identity.users.models import User

_PURPOSE: Final = "dummy password hashes"
_SECONDS: Final = 60.0  # for which a worker knows the proportions
_SHARE_OF_TIME: Final = 0.01  # that counting may take, where there is much to count
_PATIENCE: Final = 5.0  # seconds that the first sign-in of a tenant waits for them
_MOST_FORMATS: Final = 32
_logger: Final = logging.getLogger("gatehouse.passwords")


@dataclass(frozen=True, slots=True)
class Format:
    """A form of hashes, the share of the tenant's users that have it, and a hash that costs the same."""

    share: float
    dummy: str


class _Proportions:
    """The foreign formats of each tenant, counted by a thread of its own: no sign-in asks for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, tuple[Format, ...]]] = {}
        self._pending: dict[str, Future[tuple[Format, ...]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hash-formats")

    def of(self, tenant: tenancy.ActiveTenant) -> tuple[Format, ...]:
        """Return the formats as they were lately; only the first request of a tenant waits."""
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
            return counting.result(_PATIENCE)
        except (DatabaseError, TimeoutError):
            _logger.warning("the formats of password hashes could not be counted", exc_info=True)
            return ()

    def forget(self, tenant_id: str) -> None:
        """Count again at the next sign-in."""
        self._known.pop(tenant_id, None)

    def _count(self, tenant: tenancy.ActiveTenant) -> tuple[Format, ...]:
        began = time.monotonic()
        try:
            with tenancy.using(tenant):
                formats = count_formats()
            now = time.monotonic()
            lasts = max(_SECONDS, (now - began) / _SHARE_OF_TIME)
            self._known[tenant.id] = (now + lasts, formats)
            return formats
        finally:
            with self._lock:
                del self._pending[tenant.id]
                is_last = not self._pending
            if is_last:
                connection.close()


_proportions: Final = _Proportions()


def of(identifier: str) -> str:
    """Return what to check a password of an identifier against that nobody has; nothing: a hash of ours.

    It is the same at every try, as long as the proportions are.
    """
    formats = _proportions.of(tenancy.active())
    return _picked(formats, _place(identifier)) if formats else ""


def forget() -> None:
    """Have the formats of the active tenant counted again, since one was added."""
    _proportions.forget(tenancy.active_id())


def count_formats() -> tuple[Format, ...]:
    """Return the foreign formats of the active tenant, in an order that lasts."""
    foreign = User.objects.exclude(password="").exclude(password__startswith=hash_formats.OURS)
    samples: dict[str, str] = {}
    while len(samples) < _MOST_FORMATS:
        others = foreign
        for prefix in samples:
            others = others.exclude(password__startswith=prefix)
        found = list(others.order_by().values_list("password", flat=True)[:1])
        if not found:
            break
        prefix = hash_formats.cost_prefix(found[0])
        if not found[0].startswith(prefix):
            break  # no form that is known: the query would find it for ever
        samples[prefix] = found[0]
    if not samples:
        return ()
    prefixes = sorted(samples)
    counts = foreign.aggregate(
        **{f"of_{n}": Count("pk", filter=Q(password__startswith=prefix)) for n, prefix in enumerate(prefixes)}
    )
    users = max(totals.users(), 1)
    return tuple(
        Format(counts[f"of_{n}"] / users, hash_formats.unmatchable(samples[prefix]))
        for n, prefix in enumerate(prefixes)
    )


def _place(identifier: str) -> float:
    """Return the place of an identifier from 0 to 1, which stays when a key is put in front of the ring."""
    oldest = next(reversed(settings.ENCRYPTION_KEYS))
    mac = keyring.mac(f"{tenancy.active_id()} {identifier}", purpose=_PURPOSE, key=oldest)
    return int.from_bytes(mac[:8]) / 2**64


def _picked(formats: tuple[Format, ...], place: float) -> str:
    """Return the dummy whose part of the line from 0 to 1 a place is in; nothing: the part of our hashes.

    The parts begin at both ends in turn. When people sign in, their hashes become ours, and the parts shrink
    towards the ends: an identifier of nobody then changes as one of somebody does, to ours and never back.
    """
    left, right = 0.0, 1.0
    for number, one in enumerate(formats):
        if number % 2 == 0:
            if left <= place < left + one.share:
                return one.dummy
            left += one.share
        else:
            if right - one.share <= place < right:
                return one.dummy
            right -= one.share
    return ""
