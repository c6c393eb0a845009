"""Scopes of the management API, which roles of machines grant."""

from uuid import UUID

from django.db.models import QuerySet

from database import ids
from database.list_parameters import among
from identity.core.proof import TokenTooOld
from identity.resources.models import Scope
from identity.roles.models import Role, RoleScope


def find_grants() -> QuerySet[RoleScope]:
    """Return the scopes of the management API that roles grant."""
    return RoleScope.objects.filter(scope__resource__is_protected=True)


def check(role_id: UUID, scope_ids: list[str], *, is_proven: bool) -> None:
    """Check that a caller may make these the scopes of a role.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: applications with the role would get a further scope of the management API, and
            ``is_proven`` is false.

    """
    if is_proven or not Role.objects.filter(pk=role_id, type=Role.Type.MACHINE).exists():
        return
    named = [pk for text in scope_ids if (pk := ids.parse(text)) is not None]
    held = RoleScope.objects.filter(role=role_id).values("scope_id")
    if Scope.objects.filter(among("pk", named), resource__is_protected=True).exclude(pk__in=held).exists():
        raise TokenTooOld
