"""Scopes of the management API, which roles of machines grant."""

from uuid import UUID

from django.db.models import QuerySet

from database import ids
from database.list_parameters import among
from identity.resources.models import Scope
from identity.roles.models import Role, RoleScope


def find_grants() -> QuerySet[RoleScope]:
    """Return the scopes of the management API that roles grant."""
    return RoleScope.objects.filter(scope__resource__is_protected=True)


def are_added(role_id: UUID, scope_ids: list[str]) -> bool:
    """Return whether applications with a role would get a further one of these scopes."""
    if not Role.objects.filter(pk=role_id, type=Role.Type.MACHINE).exists():
        return False
    named = [pk for text in scope_ids if (pk := ids.parse(text)) is not None]
    held = RoleScope.objects.filter(role=role_id).values("scope_id")
    return Scope.objects.filter(among("pk", named), resource__is_protected=True).exclude(pk__in=held).exists()
