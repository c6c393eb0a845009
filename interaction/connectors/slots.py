"""Slots for requests that wait for providers, which may be slow to answer."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core import tenancy
from identity.core.errors import ServiceError


class Busy(ServiceError):
    """Too many requests are waiting for providers."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("Wait a few seconds and try again.")


class Slots:
    """A number of slots. One tenant leaves a quarter of them, at least one, to the others."""

    def __init__(self, number: int) -> None:
        self._number: Final = number
        self._most_of_tenant: Final = max(1, number - max(1, number // 4))
        self._lock: Final = Lock()
        self._taken: Final = Counter[str]()

    @contextmanager
    def take(self, refusal: ServiceError) -> Iterator[None]:
        """Hold a slot of the active tenant in the block.

        Raises:
            ServiceError: ``refusal``, because no slot is free, or the tenant has its share.

        """
        tenant_id = tenancy.active_id()
        with self._lock:
            if self._taken.total() >= self._number or self._taken[tenant_id] >= self._most_of_tenant:
                raise refusal
            self._taken[tenant_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[tenant_id] -= 1


# Sign-in providers and CAPTCHAs that are slow to respond block at most half of the threads together.
PROVIDERS: Final = Slots(settings.THREADS // 2)
