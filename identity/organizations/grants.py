"""What memberships grant at this moment: reads for whoever issues tokens."""

from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet

from database import ids
from identity.organizations.models import (
    MemberRole,
    Membership,
    OrganizationPermission,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.resources.models import Scope


def membership_of(user_id: UUID, organization_id: str) -> Membership | None:
    """Return a user's membership by the organization's id as a client sent it."""
    organization = ids.parse(organization_id)
    if organization is None:
        return None
    return Membership.objects.filter(user=user_id, organization=organization).first()


def permissions(membership: Membership) -> QuerySet[OrganizationPermission]:
    """Return the permissions that a member's roles hold."""
    roles = MemberRole.objects.filter(membership=membership).values("role_id")
    held = OrganizationRolePermission.objects.filter(role__in=roles).values("permission_id")
    return OrganizationPermission.objects.filter(pk__in=held)


def resource_scopes(membership: Membership, resource_id: UUID) -> QuerySet[Scope]:
    """Return the scopes of a resource that a member's roles carry."""
    roles = MemberRole.objects.filter(membership=membership).values("role_id")
    carried = OrganizationRoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=carried)


@dataclass(slots=True)
class Joined:
    """An organization that a user belongs to, with the names of the roles held there."""

    organization_id: UUID
    is_admin: bool
    roles: list[str] = field(default_factory=list)


def joined(user_id: UUID) -> list[Joined]:
    """Return a user's organizations, oldest membership first, in one query."""
    rows = Membership.objects.filter(user=user_id).order_by("created_at", "pk", "role_links__role__name")
    found: dict[UUID, Joined] = {}
    for pk, is_admin, role in rows.values_list("organization_id", "is_admin", "role_links__role__name"):
        organization = found.setdefault(pk, Joined(pk, is_admin))
        if role is not None:
            organization.roles.append(role)
    return list(found.values())
