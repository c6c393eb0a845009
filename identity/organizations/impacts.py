"""What members lose with organizations and their roles: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from identity.organizations.models import (
    MemberRole,
    Membership,
    OrganizationRolePermission,
    OrganizationRoleScope,
)

_PERMISSION: Final = "organizations.OrganizationPermission"

LOSSES: Final = [
    Loss(
        "users.User", Verb.DELETE, "memberships", lambda user: Membership.objects.filter(user=user),
        "organization loses a member", "organizations lose a member",
    ),
    Loss(
        "organizations.Organization", Verb.DELETE, "memberships",
        lambda organization: Membership.objects.filter(organization=organization),
        "user is no longer a member", "users are no longer members",
    ),
    Loss(
        "organizations.OrganizationRole", Verb.DETACH, "members",
        lambda role: MemberRole.objects.filter(role=role),
        "member loses the role", "members lose the role",
    ),
    Loss(
        _PERMISSION, Verb.DETACH, "organization_roles",
        lambda permission: OrganizationRolePermission.objects.filter(permission=permission),
        "organization role loses the permission", "organization roles lose the permission",
    ),
    Loss(
        "resources.Resource", Verb.DETACH, "organization_roles",
        lambda resource: (
            OrganizationRoleScope.objects.filter(scope__resource=resource).values("role").distinct()
        ),
        "organization role loses scopes", "organization roles lose scopes",
    ),
    Loss(
        "resources.Scope", Verb.DETACH, "organization_roles",
        lambda scope: OrganizationRoleScope.objects.filter(scope=scope),
        "organization role loses the scope", "organization roles lose the scope",
    ),
]  # fmt: skip
