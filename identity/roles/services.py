"""What is done to roles, and what they grant."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from audit.events import Event
from identity.core import assignments, records
from identity.core.assignments import Assignment
from identity.core.errors import ServiceError
from identity.core.records import Protected
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles.models import Role, RoleScope, UserRole

MANAGEMENT_ROLE: Final = "Service Management API access"

SCOPES: Final = Assignment(RoleScope, "role", "scope", "scope_ids", Event.ROLE_UPDATE)
USERS: Final = Assignment(UserRole, "role", "user", "user_ids", Event.ROLE_UPDATE)
OF_USER: Final = Assignment(
    UserRole, "user", "role", "role_ids", Event.USER_UPDATE, allowed={"type": Role.Type.USER}
)


class NotForUsers(ServiceError):
    """A role for machines was about to be given to people."""

    reason = "role_not_for_users"
    message = "user_ids: a MachineToMachine role cannot be given to users"


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


def set_scopes(role_id: UUID, given: list[str], *, expected: frozenset[int] | None) -> bool:
    """Replace the scopes of a role. False without such a role.

    Raises:
        Protected: the built-in role keeps ``all``.
        assignments.UnknownIds: an id is no scope of this tenant.

    """
    kept = RoleScope.objects.filter(role=role_id, role__is_protected=True, scope__is_protected=True)
    must_stay = kept.filter(scope__name=resources.ALL).values_list("scope_id", flat=True)
    if any(str(scope) not in given for scope in must_stay):
        raise Protected
    return assignments.replace(SCOPES, role_id, given, expected=expected)


def set_users(role_id: UUID, given: list[str], *, expected: frozenset[int] | None) -> bool:
    """Replace the users of a role. False without such a role.

    Raises:
        NotForUsers: it is a role for machines.
        assignments.UnknownIds: an id is no user of this tenant.

    """
    if Role.objects.filter(pk=role_id, type=Role.Type.MACHINE).exists():
        raise NotForUsers
    return assignments.replace(USERS, role_id, given, expected=expected)


def scopes_of_user(user_id: UUID, resource_id: UUID) -> QuerySet[Scope]:
    """Return the scopes of a resource that a user's system roles grant at this moment."""
    roles = UserRole.objects.filter(user=user_id).values("role_id")
    granted = RoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=granted)
