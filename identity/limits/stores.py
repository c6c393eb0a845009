"""Where it is counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from identity.limits import in_database
from identity.limits.rules import Refusal, Try


class Store(Protocol):
    """What counts."""

    def count(self, tries: Sequence[Try]) -> Refusal | None:
        """Count all of them at once, or none and return the first that is one too many."""

    def give_back(self, tries: Sequence[Try], *, cleared: str = "") -> None:
        """Take back what ``count`` counted, and all failures of the kind ``cleared``."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Who counted, and what was one too many."""

    store: Store
    refusal: Refusal | None


def count(tries: Sequence[Try]) -> Counted:
    """Count all of them at once, or none."""
    return Counted(in_database, in_database.count(tries))
