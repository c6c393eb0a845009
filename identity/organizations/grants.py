"""What memberships grant at this moment: reads for whoever issues tokens."""

from uuid import UUID

from django.db.models import QuerySet

from identity.core import ids
from identity.organizations.models import (
    MemberRole,
    Membership,
    OrganizationPermission,
    OrganizationRole,
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


def organizations_of(user_id: UUID) -> list[UUID]:
    """Return the ids of a user's organizations, oldest membership first."""
    joined = Membership.objects.filter(user=user_id).order_by("created_at", "pk")
    return list(joined.values_list("organization_id", flat=True))


def roles_of(user_id: UUID) -> list[tuple[UUID, str]]:
    """Return organization and role name of every role a user has in an organization."""
    held = MemberRole.objects.filter(membership__user=user_id)
    return list(
        held.order_by("membership__created_at", "role__name").values_list(
            "membership__organization_id", "role__name"
        )
    )


def role_names(membership: Membership) -> list[str]:
    """Return the names of a member's roles."""
    held = MemberRole.objects.filter(membership=membership).values("role_id")
    return list(OrganizationRole.objects.filter(pk__in=held).order_by("name").values_list("name", flat=True))
