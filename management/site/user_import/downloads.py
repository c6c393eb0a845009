"""The files that the pages of the import offer: a sample, and the problems."""

import csv
from io import StringIO
from typing import Any, Final

from django.http import HttpResponse

from audit.exports import escape_formulas

_COLUMNS: Final = ("line", "row", "id", "outcome", "field", "rule")
_SAMPLE: Final = (
    ("id", "username", "email", "email_verified", "phone", "name", "password_hash", "custom_data"),
    ("17", "ada", "ada@example.com", "true", "", "Ada Lovelace", "", '{"plan": "gold"}'),
    ("18", "", "grace@example.com", "false", "+15555550118", "Grace Hopper", "", ""),
)


def sample() -> HttpResponse:
    """Return a file that can be imported."""
    return _answer("users.csv", _SAMPLE)


def problems(found: list[dict[str, Any]]) -> HttpResponse:
    """Return problems in the format of ``import_users --report``: places and rules, but no values."""
    rows = (tuple(escape_formulas(str(problem.get(name, ""))) for name in _COLUMNS) for problem in found)
    return _answer("refused-users.csv", (_COLUMNS, *rows))


def _answer(name: str, rows: tuple[tuple[str, ...], ...]) -> HttpResponse:
    text = StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
