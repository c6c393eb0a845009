"""What is done to roles, and what they grant."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from audit.events import Event
from identity.core import records
from identity.core.assignments import Assignment
from identity.core.errors import ServiceError
from identity.core.records import Protected
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles.models import Role, RoleScope, UserRole

MANAGEMENT_ROLE: Final = "Service Management API access"


class NotForUsers(ServiceError):
    """A role for machines was about to be given to people."""

    reason = "role_not_for_users"
    message = "user_ids: a MachineToMachine role cannot be given to users"


SCOPES: Final = Assignment(
    RoleScope,
    "role",
    "scope",
    "scope_ids",
    Event.ROLE_UPDATE,
    # The built-in role keeps ``all``, or no application could manage the tenant.
    stays={"role__is_protected": True, "scope__is_protected": True, "scope__name": resources.ALL},
)
USERS: Final = Assignment(
    UserRole,
    "role",
    "user",
    "user_ids",
    Event.ROLE_UPDATE,
    takers={"type": Role.Type.USER},
    refusal=NotForUsers,
)
OF_USER: Final = Assignment(
    UserRole, "user", "role", "role_ids", Event.USER_UPDATE, allowed={"type": Role.Type.USER}
)


def provision() -> None:
    """Give a new tenant the role that opens its management API to applications."""
    role = Role.objects.create(
        name=MANAGEMENT_ROLE,
        description="Lets an application use the whole management API",
        type=Role.Type.MACHINE,
        is_protected=True,
    )
    everything = Scope.objects.get(name=resources.ALL, is_protected=True)
    RoleScope.objects.create(role=role, scope=everything)


def change(role: Role, fields: dict[str, object], *, expected: frozenset[int] | None) -> None:
    """Change a role.

    Raises:
        Protected: the built-in role keeps its name.
        records.Stale: it was changed since the caller read it.

    """
    if role.is_protected and fields.get("name", role.name) != role.name:
        raise Protected
    records.change(role, fields, event=Event.ROLE_UPDATE, expected=expected)


def remove(role: Role, *, expected: frozenset[int] | None) -> None:
    """Delete a role; whoever had it has it no more.

    Raises:
        Protected: it is the built-in role.
        records.Stale: it was changed since the caller read it.

    """
    if role.is_protected:
        raise Protected
    records.remove(role, event=Event.ROLE_DELETE, expected=expected, name=role.name)


def scopes_of_user(user_id: UUID, resource_id: UUID) -> QuerySet[Scope]:
    """Return the scopes of a resource that a user's system roles grant at this moment."""
    roles = UserRole.objects.filter(user=user_id).values("role_id")
    granted = RoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=granted)
