"""What users and roles lose with roles and API resources: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from identity.roles.models import RoleScope, UserRole

LOSSES: Final = [
    Loss(
        "users.User", Verb.DETACH, "roles", lambda user: UserRole.objects.filter(user=user),
        "role loses the user", "roles lose the user",
    ),
    Loss(
        "roles.Role", Verb.DETACH, "users", lambda role: UserRole.objects.filter(role=role),
        "user loses the role", "users lose the role",
    ),
    Loss(
        "resources.Resource", Verb.DETACH, "roles",
        lambda resource: RoleScope.objects.filter(scope__resource=resource).values("role").distinct(),
        "role loses scopes", "roles lose scopes",
    ),
    Loss(
        "resources.Scope", Verb.DETACH, "roles", lambda scope: RoleScope.objects.filter(scope=scope),
        "role loses the scope", "roles lose the scope",
    ),
]  # fmt: skip
