"""What users and roles lose with roles and API resources: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from identity.roles.models import RoleScope, UserRole

LOSSES: Final = [
    Loss(
        "users.User",
        Verb.DETACH,
        "roles",
        lambda user: UserRole.objects.filter(user=user),
        ngettext_lazy("%(number)s role loses the user", "%(number)s roles lose the user", "count"),
    ),
    Loss(
        "roles.Role",
        Verb.DETACH,
        "users",
        lambda role: UserRole.objects.filter(role=role),
        ngettext_lazy("%(number)s user loses the role", "%(number)s users lose the role", "count"),
    ),
    Loss(
        "resources.Resource",
        Verb.DETACH,
        "roles",
        lambda resource: RoleScope.objects.filter(scope__resource=resource).values("role").distinct(),
        ngettext_lazy("%(number)s role loses scopes", "%(number)s roles lose scopes", "count"),
    ),
    Loss(
        "resources.Scope",
        Verb.DETACH,
        "roles",
        lambda scope: RoleScope.objects.filter(scope=scope),
        ngettext_lazy("%(number)s role loses the scope", "%(number)s roles lose the scope", "count"),
    ),
]
