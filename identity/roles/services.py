"""Changing and deleting system roles, and their scopes and users."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from audit.events import Event
from database.parameters import Parameter
from identity.core import records
from identity.core.assignments import Assignment
from identity.core.errors import ServiceError
from identity.core.records import Protected
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles import management_scopes
from identity.roles.models import Role, RoleScope, UserRole

MANAGEMENT_ROLE: Final = "Service Management API access"


class NotForUsers(ServiceError):
    """A role for machine applications cannot be given to users."""

    reason = "role_not_for_users"
    message = gettext_noop("user_ids: a MachineToMachine role cannot be given to users")


SCOPES: Final = Assignment(
    RoleScope,
    "role",
    "scope",
    "scope_ids",
    Event.ROLE_UPDATE,
    # Without the scope ``all`` in the built-in role no application could manage the tenant.
    protected_filter={"role__is_protected": True, "scope__is_protected": True, "scope__name": resources.ALL},
    needs_proof=management_scopes.are_added,
)
USERS: Final = Assignment(
    UserRole,
    "role",
    "user",
    "user_ids",
    Event.ROLE_UPDATE,
    parent_filter={"type": Role.Type.USER},
    refusal=NotForUsers,
    items_are_users=True,
)
USER_ROLES: Final = Assignment(
    UserRole, "user", "role", "role_ids", Event.USER_UPDATE, item_filter={"type": Role.Type.USER}
)


def provision() -> None:
    """Create the built-in role of a new tenant, which gives applications access to the management API."""
    role = Role.objects.create(
        name=MANAGEMENT_ROLE,
        description="Lets an application use the whole management API",
        type=Role.Type.MACHINE,
        is_protected=True,
    )
    scope = Scope.objects.get(name=resources.ALL, is_protected=True)
    RoleScope.objects.create(role=role, scope=scope)


def change(role: Role, fields: dict[str, object], *, expected: frozenset[int] | None) -> None:
    """Change a role.

    Raises:
        Protected: the role is the built-in one, whose name cannot be changed.
        records.Stale: the role was changed since the caller read it.

    """
    if role.is_protected and fields.get("name", role.name) != role.name:
        raise Protected
    records.change(role, fields, event=Event.ROLE_UPDATE, expected=expected)


def remove(role: Role, *, expected: frozenset[int] | None) -> None:
    """Delete a role. Its users and applications lose it.

    Raises:
        Protected: the role is the built-in one.
        records.Stale: the role was changed since the caller read it.
        ServiceError: an app above refuses it: see ``deletion_rules``.

    """
    if role.is_protected:
        raise Protected
    records.remove(role, event=Event.ROLE_DELETE, expected=expected, name=role.name)


def get_user_scopes(user_id: UUID | Parameter, resource_id: UUID | Parameter) -> QuerySet[Scope]:
    """Return the scopes of a resource that a user's system roles grant."""
    roles = UserRole.objects.filter(user=user_id).values("role_id")
    granted = RoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=granted)
