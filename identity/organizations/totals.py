"""The number of each organization's members, which triggers keep."""

from typing import Final
from uuid import UUID

from database.row_counts import RowCount
from identity.core.tenant_statements import Tuples, uuid
from identity.organizations.models import MemberCount

MEMBERS: Final = RowCount(
    "organizations_membership",
    "organizations_membercount",
    "members",
    "organizations_organization",
    {"tenant_id": "tenant_id", "organization_id": "id"},
)

_parts: Final = Tuples(
    lambda: MemberCount.objects.filter(organization=uuid("organization_id")).values_list("members")
)


def members_of(organization_id: UUID | None) -> int:
    """Return how many members an organization has, exactly, however many they are; none without an id."""
    return sum(members for (members,) in _parts.all(organization_id=organization_id))
