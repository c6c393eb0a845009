"""What members lose with organizations and their roles: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

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
        "users.User",
        Verb.DELETE,
        "memberships",
        lambda user: Membership.objects.filter(user=user),
        ngettext_lazy(
            "%(number)s organization loses a member", "%(number)s organizations lose a member", "count"
        ),
    ),
    Loss(
        "organizations.Organization",
        Verb.DELETE,
        "memberships",
        lambda organization: Membership.objects.filter(organization=organization),
        ngettext_lazy(
            "%(number)s user is no longer a member", "%(number)s users are no longer members", "count"
        ),
    ),
    Loss(
        "organizations.OrganizationRole",
        Verb.DETACH,
        "members",
        lambda role: MemberRole.objects.filter(role=role),
        ngettext_lazy("%(number)s member loses the role", "%(number)s members lose the role", "count"),
    ),
    Loss(
        _PERMISSION,
        Verb.DETACH,
        "organization_roles",
        lambda permission: OrganizationRolePermission.objects.filter(permission=permission),
        ngettext_lazy(
            "%(number)s organization role loses the permission",
            "%(number)s organization roles lose the permission",
            "count",
        ),
    ),
    Loss(
        "resources.Resource",
        Verb.DETACH,
        "organization_roles",
        lambda resource: (
            OrganizationRoleScope.objects.filter(scope__resource=resource).values("role").distinct()
        ),
        ngettext_lazy(
            "%(number)s organization role loses scopes", "%(number)s organization roles lose scopes", "count"
        ),
    ),
    Loss(
        "resources.Scope",
        Verb.DETACH,
        "organization_roles",
        lambda scope: OrganizationRoleScope.objects.filter(scope=scope),
        ngettext_lazy(
            "%(number)s organization role loses the scope",
            "%(number)s organization roles lose the scope",
            "count",
        ),
    ),
]
