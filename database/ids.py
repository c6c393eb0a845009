"""Ids of rows, audit entries and requests: UUID version 7 (RFC 9562), so that newer ones are greater."""

from datetime import UTC, datetime
from uuid import UUID

from uuid_utils.compat import uuid7


def new() -> UUID:
    """Make an id that grows with time and cannot be guessed."""
    return uuid7()


def parse(text: str) -> UUID | None:
    """Read an id in its canonical text; anything else is no id at all."""
    try:
        value = UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
    return value if str(value) == text else None


def made_at(pk: UUID) -> datetime | None:
    """Return when an id was made, by its first 48 bits; nothing for another kind of id."""
    seconds = (pk.int >> 80) / 1000
    return datetime.fromtimestamp(seconds, tz=UTC) if pk.version == 7 and seconds < 2**33 else None  # noqa: PLR2004


def first_at(moment: datetime) -> UUID:
    """Return the least id that can be made at a moment, or at the beginning of all counting."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)
