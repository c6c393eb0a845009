"""Reading times as the server writes them, ten times as quickly as psycopg does in Python."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db.backends.postgresql.psycopg_any import BaseTzLoader
from psycopg.adapt import AdaptersMap


class MomentLoader(BaseTzLoader):  # type: ignore[misc]  # no type information
    """Reads a ``timestamptz`` of a session in UTC."""

    timezone = UTC

    def load(self, data: Any) -> datetime:
        """Return the moment; what is none of ISO 8601, as ``infinity``, is psycopg's."""
        try:
            moment = datetime.fromisoformat(bytes(data).decode())
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is not UTC:
            return super().load(data)  # type: ignore[no-any-return]
        return moment


@lru_cache
def quicker(adapters: AdaptersMap) -> AdaptersMap:
    """Return adapters of Django's, but for this one."""
    context = AdaptersMap(adapters)
    context.register_loader("timestamptz", MomentLoader)
    return context
