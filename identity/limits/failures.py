"""Failures that any client can cause: limited by network, and summarized in the audit log."""

from typing import Final

from identity.limits import rules, services, stores
from identity.limits.rules import Hit, Limit, Refusal
from identity.limits.services import TooMany


class Failure:
    """A failure, counted for the client's network."""

    def __init__(self, limit: Limit, *, recorded: int) -> None:
        """Count the failure. The first ``recorded`` have an audit entry each, the others one a minute."""
        self._limit: Final = limit
        self._hit: Final = Hit(limit, services.client_network())
        self._window: Final = stores.increment(self._hit)
        self._is_summarized: Final = self._window.count > recorded

    def claim_entry(self) -> bool:
        """Return whether to write an audit entry. Call it only once: it counts the entries of the minute."""
        if not self._is_summarized:
            return True
        entries = Hit(rules.SUMMARIES, f"{self._limit.kind} {self._hit.key}")
        return stores.increment(entries).count == 1

    @property
    def facts(self) -> dict[str, int]:
        """The facts for the audit entry: in a summary, the number of failures in the window so far."""
        return {"count": self._window.count} if self._is_summarized else {}

    def check(self) -> None:
        """Refuse the request if the limit is reached.

        Raises:
            TooMany: the limit is reached.

        """
        if self._window.count > self._limit.max_hits:
            stores.count_refusal(Refusal(self._hit, self._window.resets_in))
            raise TooMany(self._window.resets_in)
