"""The organizations, permissions and scopes of a user's memberships, for tokens."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from database import ids
from database.batching import Work
from database.parameters import Parameter
from identity.core.tenant_statements import Select, uuid
from identity.organizations.models import (
    MemberRole,
    Membership,
    OrganizationPermission,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.resources.models import Scope

_DEFERRED: Final = tuple(
    f"organization__{column}" for column in ("description", "logo_url", "metadata", "branding")
)
_MEMBERSHIP: Final = Select(
    lambda: (
        Membership.objects.filter(user=uuid("user_id"), organization=uuid("organization_id"))
        .select_related("organization")
        .defer(*_DEFERRED)[:1]
    )
)


def find_membership(user_id: UUID, organization_id: str) -> Work[Membership | None]:
    """Return a user's membership, with its organization. ``organization_id`` may be any text."""
    organization = ids.parse(organization_id)
    if organization is None:
        return None
    return (yield from _MEMBERSHIP.find(user_id=user_id, organization_id=organization))


def is_in_strict_organization(user_id: UUID) -> bool:
    """Return whether the user is a member of an organization that requires two factors."""
    return Membership.objects.filter(user=user_id, organization__is_mfa_required=True).exists()


def count_users_in_strict_organizations() -> int:
    """Return how many users are members of organizations that require two factors."""
    strict = Membership.objects.filter(organization__is_mfa_required=True)
    return strict.values("user").distinct().count()


def get_permissions(membership_id: UUID | Parameter) -> QuerySet[OrganizationPermission]:
    """Return the permissions of a member's roles."""
    roles = MemberRole.objects.filter(membership=membership_id).values("role_id")
    held = OrganizationRolePermission.objects.filter(role__in=roles).values("permission_id")
    return OrganizationPermission.objects.filter(pk__in=held)


def get_resource_scopes(membership_id: UUID | Parameter, resource_id: UUID | Parameter) -> QuerySet[Scope]:
    """Return the scopes of a resource that a member's roles have."""
    roles = MemberRole.objects.filter(membership=membership_id).values("role_id")
    held = OrganizationRoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=held)


def get_names(user_id: UUID, *, limit: int) -> list[str]:
    """Return the names of a user's organizations, oldest membership first."""
    rows = Membership.objects.filter(user=user_id).order_by("created_at", "pk")
    return list(rows.values_list("organization__name", flat=True)[:limit])
