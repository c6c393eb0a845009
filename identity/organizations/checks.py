"""A check that fails while the number of members may be wrong."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.organizations import totals


@register("doctor")
def members_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Report triggers that are missing from the tables of organizations and members."""
    return totals.MEMBERS.warnings(databases, "members", "organizations.W001")
