"""The check that the triggers of the stored numbers of users exist."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.users import row_counts


@register("doctor")
def users_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return a warning for each stored number of users that lacks triggers."""
    return [
        *row_counts.USERS.warnings(databases, "users", "users.W001"),
        *row_counts.USERS_BY_DAY.warnings(databases, "users by day", "users.W001"),
    ]
