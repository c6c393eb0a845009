"""A check that fails while the number of users may be wrong."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.users import totals


@register("doctor")
def users_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Report triggers that are missing from the table of users."""
    return totals.USERS.warnings(databases, "users", "users.W001")
