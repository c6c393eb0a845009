"""Records of import files, and the users that they describe."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from identity.core.errors import Invalid, ServiceError


class Unreadable(ServiceError):
    """The file cannot be read."""

    reason = "unreadable"


class LeftOut(Exception):
    """The record is valid, but not a user, so it is skipped."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A user of another system: the id there, our fields, and the hash if it has to be assembled."""

    id: str
    fields: dict[str, Any]
    # Returns the hash, or raises Invalid if it is not supported.
    encoded: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record: the file, the number of the record, and the line if the format has lines."""

    file: str
    row: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """A record as read, or why it could not be read."""

    place: Place
    value: dict[str, Any] = field(default_factory=dict)
    refusal: Invalid | None = None


Reader = Callable[[], Iterator[Raw]]
Mapping = Callable[[dict[str, Any]], Foreign]
