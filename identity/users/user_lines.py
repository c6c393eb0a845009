"""Lists of users that operators type: one ID or identifier per line."""

from typing import Any, Final

from django.db.models import Q
from django.utils.translation import gettext_noop

from database import ids
from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.users import identifiers
from identity.users.identifiers import Kind
from identity.users.models import User

MAX_USERS: Final = 200
_UNKNOWN: Final = gettext_noop("no user has the ID, username, email or phone %(line)s")
_COLUMNS: Final = ("pk", *(f"{kind}_key" for kind in Kind))


def find_user_ids(text: str, field: str) -> list[str]:
    """Return the ids of the users that the lines of a text name, in order, in one query.

    Raises:
        Invalid: there are too many lines, or no user has the id or identifier of a line.

    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_USERS:
        raise Invalid(field, fill(gettext_noop("at most %(most)s at once"), most=MAX_USERS))
    wanted = {line: _parse(line) for line in lines}
    users: dict[tuple[str, Any], str] = {}
    for row in User.objects.filter(_matches(list(wanted.values()))).values(*_COLUMNS):
        users |= {(column, value): str(row["pk"]) for column, value in row.items()}
    for line, named in wanted.items():
        if named not in users:
            raise Invalid(field, fill(_UNKNOWN, line=line[:100]))
    return sorted({users[named] for named in wanted.values()})


def _parse(line: str) -> tuple[str, Any]:
    """Return the column and the value by which a line names a user."""
    if pk := ids.parse(line):
        return "pk", pk
    kind, key = identifiers.parse(line)
    return f"{kind}_key", key


def _matches(named: list[tuple[str, Any]]) -> Q:
    condition = Q(pk=None)
    for column in _COLUMNS:
        condition |= Q(**{f"{column}__in": [value for name, value in named if name == column]})
    return condition
