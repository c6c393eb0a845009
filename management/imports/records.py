"""The records of import files, and the users that they describe."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import PurePath
from typing import IO, Any, Literal, Protocol

from identity.core.errors import Invalid, ServiceError
from identity.factors.authenticators import ImportedSecret
from identity.users.imported_hashes import Bounds


class Unreadable(ServiceError):
    """A file cannot be read."""

    reason = "unreadable"


class ImportFile(Protocol):
    """A file to import: a path, or a file in memory."""

    @property
    def name(self) -> str:
        """The name without the folder."""

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        """Open the file."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """An uploaded file, which is never written to a disk."""

    name: str
    content: bytes = field(repr=False)  # may contain password hashes

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""
        return PurePath(self.name).suffix

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        return BytesIO(self.content)


class LeftOut(Exception):
    """A record is valid, but does not describe a user, so it is skipped."""


@dataclass(frozen=True, slots=True)
class ForeignUser:
    """A user of another system: the id in that system, and the values for our fields."""

    id: str
    fields: dict[str, Any]
    # Returns the password hash in our format. Raises Invalid if the hash is unsupported or too costly.
    encoded: Callable[[Bounds], str] | None = None
    # Returns the secrets of authenticators. Raises Invalid if one cannot be used here.
    secrets: Callable[[], list[ImportedSecret]] = list
    # Whether no other system of this format can have a user with this id.
    has_unique_id: bool = True


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
