"""A cache of what providers publish, in which a tenant replaces only entries of its own."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, TypeVar

from identity.core import tenancy

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

# A tenant offers one connector of each of seven providers. Four of them sign ID tokens, and each of these
# has two sets of keys.
_MAX_ENTRIES: Final = 8
_MAX_TENANTS: Final = 256


class TenantCache(Generic[Key, Value]):
    """The values of the 256 tenants that used it last, at most eight of each."""

    def __init__(self) -> None:
        self._lock: Final = Lock()
        self._tenants: Final = OrderedDict[str, OrderedDict[Key, tuple[int, Value]]]()

    def get(self, key: Key, window: int, build: Callable[[], Value]) -> Value:
        """Return the active tenant's value of this key and window, built if it is not stored.

        Without an active tenant, as for the provider of administrators, it is the installation's value.

        Raises:
            Exception: what ``build`` raised. Nothing is stored then.

        """
        tenant_id = _find_owner()
        with self._lock:
            entries = self._tenants.get(tenant_id)
            stored = entries.get(key) if entries else None
            if entries and stored and stored[0] == window:
                self._tenants.move_to_end(tenant_id)
                entries.move_to_end(key)
                return stored[1]
        value = build()
        with self._lock:
            entries = self._tenants.setdefault(tenant_id, OrderedDict())
            entries[key] = (window, value)
            _trim(self._tenants, tenant_id, _MAX_TENANTS)
            _trim(entries, key, _MAX_ENTRIES)
        return value

    def clear(self) -> None:
        """Delete all values of all tenants."""
        with self._lock:
            self._tenants.clear()


def _find_owner() -> str:
    try:
        return tenancy.active_id()
    except tenancy.NoActiveTenant:
        return ""


def _trim(entries: OrderedDict[Key, Value], newest: Key, number: int) -> None:
    """Make an entry the newest, and delete the oldest if there are too many."""
    entries.move_to_end(newest)
    if len(entries) > number:
        entries.popitem(last=False)
