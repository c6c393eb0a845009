"""Timestamps in one format, in UTC, so that operators can compare and sort them by eye."""

from datetime import UTC, datetime


def format_utc(timestamp: datetime | None) -> str:
    """Return a timestamp in UTC, to the second; a dash for none."""
    return "-" if timestamp is None else f"{timestamp.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
