"""The check that the triggers of the stored number of members exist."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.organizations import row_counts


@register("doctor")
def members_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return a warning if a trigger is missing from the tables of organizations and members."""
    return row_counts.MEMBERS.warnings(databases, "members", "organizations.W001")
