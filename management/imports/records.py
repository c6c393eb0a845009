"""The records of import files, and the users that they describe."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from identity.core.errors import Invalid, ServiceError


class Unreadable(ServiceError):
    """A file cannot be read."""

    reason = "unreadable"


class LeftOut(Exception):
    """A record is valid, but does not describe a user, so it is skipped."""


@dataclass(frozen=True, slots=True)
class ForeignUser:
    """A user of another system: the id in that system, and the values for our fields."""

    id: str
    fields: dict[str, Any]
    # Returns the password hash in our format, or raises Invalid if the hash is not supported.
    encoded: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record: the file, the number of the record and, in a format with lines, the line."""

    file: str
    row: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file; ``refusal`` is the reason if it could not be parsed."""

    place: Place
    value: dict[str, Any] = field(default_factory=dict)
    refusal: Invalid | None = None
