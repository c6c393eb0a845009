"""The stored number of members of each organization: see ``database.row_counts``."""

from typing import Final
from uuid import UUID

from database.row_counts import RowCount
from identity.core.tenant_statements import SelectValues, uuid
from identity.organizations.models import MemberCount

MEMBERS: Final = RowCount(
    "organizations_membership",
    "organizations_membercount",
    "members",
    "organizations_organization",
    {"tenant_id": "tenant_id", "organization_id": "id"},
)

_shards: Final = SelectValues(
    lambda: MemberCount.objects.filter(organization=uuid("organization_id")).values_list("members")
)


def count_members(organization_id: UUID | None) -> int:
    """Return the exact number of members of an organization; 0 without an id."""
    return sum(members for (members,) in _shards.all(organization_id=organization_id))
