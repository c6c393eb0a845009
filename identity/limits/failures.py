"""Failures that anybody can cause: an address has so many of them, and fills the audit log with few."""

from typing import Final

from identity.limits import rules, services, stores
from identity.limits.rules import Limit, Refusal, Try
from identity.limits.services import TooMany


class Failure:
    """One failure, counted for the client's address."""

    def __init__(self, limit: Limit, *, recorded: int) -> None:
        """Count it. The first ``recorded`` get an audit entry each, then there is one a minute."""
        self._tried: Final = Try(limit, services.client_network())
        tally = stores.tally(self._tried)
        self._count: Final = tally.count
        self._seconds: Final = tally.seconds
        self._is_summed: Final = tally.count > recorded

    def is_recorded(self) -> bool:
        """Tell whether an audit entry is due now. Ask once: asking counts."""
        if not self._is_summed:
            return True
        minute = Try(rules.SUMMARIES, f"{self._tried.rule.kind} {self._tried.key}")
        return stores.tally(minute).count == 1

    @property
    def facts(self) -> dict[str, int]:
        """What an entry that stands for several failures says: how many there were in the window so far."""
        return {"count": self._count} if self._is_summed else {}

    def check(self) -> None:
        """Answer as before only while the limit is not reached.

        Raises:
            TooMany: it is.

        """
        assert isinstance(self._tried.rule, Limit)  # noqa: S101 - by construction
        if self._count > self._tried.rule.most:
            stores.note_refusal(Refusal(self._tried, self._seconds))
            raise TooMany(self._seconds)
