"""The check that the triggers of the stored number of users exist."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.users import row_counts


@register("doctor")
def users_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return a warning if a trigger is missing from the table of users."""
    return row_counts.USERS.warnings(databases, "users", "users.W001")
