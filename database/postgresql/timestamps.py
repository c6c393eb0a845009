"""A loader of timestamps that is ten times as fast as the Python one of psycopg."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db.backends.postgresql.psycopg_any import BaseTzLoader
from psycopg.adapt import AdaptersMap


class TimestampLoader(BaseTzLoader):  # type: ignore[misc]  # no type information
    """Parses a ``timestamptz`` of a session whose time zone is UTC."""

    timezone = UTC

    def load(self, data: Any) -> datetime:
        """Return the timestamp. psycopg parses texts that are not ISO 8601, such as ``infinity``."""
        try:
            timestamp = datetime.fromisoformat(bytes(data).decode())
        except ValueError:
            timestamp = None
        if timestamp is None or timestamp.tzinfo is not UTC:
            return super().load(data)  # type: ignore[no-any-return]
        return timestamp


@lru_cache
def with_fast_timestamps(adapters: AdaptersMap) -> AdaptersMap:
    """Return a copy of the adapters that uses ``TimestampLoader``."""
    context = AdaptersMap(adapters)
    context.register_loader("timestamptz", TimestampLoader)
    return context
