"""Identifiers: UUID version 7 (RFC 9562), so that newer rows have greater ids."""

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
