"""A check that fails while the number of users may be wrong."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Warning, register  # noqa: A004 - Django's name
from django.db import connections

from identity.users import totals


@register("doctor")
def users_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Report triggers that are missing from the table of users."""
    return [
        Warning(
            f"users are not counted as they come and go: missing triggers {', '.join(sorted(names))}",
            hint="run manage.py migrate: it creates them, and counts anew",
            id="users.W001",
        )
        for alias in databases or []
        if (names := totals.missing(connections[alias]))
    ]
