"""Slots for requests that may hold a thread for a long time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from identity.core import tenancy
from identity.core.errors import ServiceError


class Slots:
    """A number of slots. One holder leaves a quarter of them, at least one, to the others."""

    def __init__(self, number: int) -> None:
        self._number: Final = number
        self._share: Final = max(1, number - max(1, number // 4))
        self._lock: Final = Lock()
        self._taken: Final = Counter[str]()

    @contextmanager
    def take(self, refusal: ServiceError, *, by: str = "", most: int = 0) -> Iterator[None]:
        """Hold a slot in the block, of the active tenant or of ``by``. ``most`` lowers the holder's share.

        Raises:
            ServiceError: ``refusal``, because no slot is free, or the holder has its share.

        """
        holder = by or tenancy.active_id()
        share = min(most or self._share, self._share)
        with self._lock:
            if self._taken.total() >= self._number or self._taken[holder] >= share:
                raise refusal
            self._taken[holder] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[holder] -= 1
                if not self._taken[holder]:
                    del self._taken[holder]
