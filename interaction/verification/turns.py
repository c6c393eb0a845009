"""The order in which a process sends the messages of tenants, so that no tenant keeps the others waiting.

A tenant's mail server may take 20 seconds for each message.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Final

from interaction.verification.models import OutgoingMessage

# Claims the message that has been due for the longest time, except those of some tenants.
Claim = Callable[[Collection[str]], OutgoingMessage | None]

_ALONE_SECONDS: Final = 1


class Turns:
    """Turns of tenants: one message each in a round, and if others wait, one thread each."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._sending: Final = Counter[str]()  # the messages that are being sent, by tenant
        self._served: Final = set[str]()  # the tenants that had their turn in this round
        # No message of another tenant than these was due. This is looked up again after ``_alone_until``.
        self._alone: frozenset[str] = frozenset()
        self._alone_until = 0.0

    @contextmanager
    def take(self, claim: Claim) -> Iterator[OutgoingMessage | None]:
        """Claim the next message, or None if no message is due, and count it as being sent in the block."""
        with self._lock:
            row = self._claim_next(claim)
            tenants = [] if row is None else [str(row.tenant_id)]
            self._served.update(tenants)
            self._sending.update(tenants)
        try:
            yield row
        finally:
            with self._lock:
                self._sending.subtract(tenants)

    def _claim_next(self, claim: Claim) -> OutgoingMessage | None:
        sending = set(+self._sending)
        if self._served:
            if (row := self._claim_of_others(claim, self._served | sending)) is not None:
                return row
            self._served.clear()  # the next round begins
        if sending and (row := self._claim_of_others(claim, sending)) is not None:
            return row
        if (row := claim(())) is None:
            self._alone_until = 0.0  # nothing is due, so the next look is cheap
        return row

    def _claim_of_others(self, claim: Claim, tenants: set[str]) -> OutgoingMessage | None:
        """Claim a message of other tenants than these. If none waits, do not look again for a second.

        A claim that finds nothing reads all messages that are due.
        """
        if tenants >= self._alone and time.monotonic() < self._alone_until:
            return None
        row = claim(tenants)
        if row is None:
            self._alone = frozenset(tenants)
            self._alone_until = time.monotonic() + _ALONE_SECONDS
        return row
