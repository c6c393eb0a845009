"""What a file holds of one person, whichever system wrote it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from identity.core.errors import Invalid, ServiceError


class Unreadable(ServiceError):
    """The file cannot be read at all."""

    reason = "unreadable"


class LeftOut(Exception):
    """What the file holds is no person: nothing to import, and nothing wrong."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A person: the id they have there, our fields, and the hash where it comes in parts."""

    id: str
    fields: dict[str, Any]
    # Called when the hash is needed: raises Invalid when it cannot be taken.
    encoded: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: the file, the how many-eth record, and the line where files have lines."""

    file: str
    row: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """A record as it was read, or why it could not be."""

    place: Place
    value: dict[str, Any] = field(default_factory=dict)
    refusal: Invalid | None = None


Reader = Callable[[], Iterator[Raw]]
Mapping = Callable[[dict[str, Any]], Foreign]
