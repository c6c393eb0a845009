"""Audit entries as CSV for spreadsheets, streamed."""

import csv
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet

from audit.models import Entry

MAX_ENTRIES: Final = 100_000
COLUMNS: Final = (
    "created_at", "key", "user_id", "application_id", "ip", "user_agent", "request_id", "payload", "id",
)  # fmt: skip
_BATCH: Final = 1_000
# Spreadsheets evaluate text that starts like this as a formula, in some locales also after a semicolon.
# White space is read only from its beginning, so the time is proportional to the length of the text.
_FORMULA: Final = re.compile(
    r"((?:^|;|(?<!\s)[^\S\t\r\n]*[\t\r\n])\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r])"
)


class _Echo:
    """A file whose ``write`` returns the text."""

    def write(self, text: str) -> str:
        return text


def lines(entries: QuerySet[Entry], check: Callable[[], None]) -> Iterator[str]:
    """Yield a header and entries as lines of CSV (RFC 4180), newest first, at most 100,000 entries.

    Entries are read in batches, so the client holds no statement and no connection of a pool while it reads.
    ``check`` is called between batches. It raises an error if the export must end.
    """
    writer: Any = csv.writer(_Echo(), quoting=csv.QUOTE_ALL)  # writerow returns what write returns
    yield writer.writerow(COLUMNS)
    rest = entries.order_by("-created_at", "-id")
    for _ in range(MAX_ENTRIES // _BATCH):
        batch = list(rest[:_BATCH].values(*COLUMNS))
        if settings.DATABASE_POOL:
            connection.close()
        for row in batch:
            yield writer.writerow([_cell(row[name]) for name in COLUMNS])
        if len(batch) < _BATCH:
            return
        check()
        last = batch[-1]
        rest = entries.filter(
            Q(created_at__lt=last["created_at"]) | Q(created_at=last["created_at"], id__lt=last["id"])
        ).order_by("-created_at", "-id")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return escape_formulas(orjson.dumps(value).decode())
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return escape_formulas(text)


def escape_formulas(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate as a formula."""
    return _FORMULA.sub(r"\1'", text)
