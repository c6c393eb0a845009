"""/roles, what they hold and who has them."""

from typing import Any

from identity.rest.assignment_view import AssignmentView
from identity.rest.filters import exactly
from identity.rest.viewsets import CrudViewSet, Row
from identity.roles import services
from identity.roles.models import Role
from identity.roles.serializers import RoleScopeSerializer, RoleSerializer, RoleUserSerializer

_COLUMNS = ("id", "name", "description", "type", "created_at", "updated_at")


class RoleViewSet(CrudViewSet):
    """System roles."""

    model = Role
    thing = "role"
    serializer_class = RoleSerializer
    columns = _COLUMNS
    filters = {"type": exactly("type")}

    def perform_update(self, row: Role, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a role."""
        services.change(row, fields, expected=expected)

    def perform_destroy(self, row: Role, expected: frozenset[int] | None) -> None:
        """Delete a role."""
        services.remove(row, expected=expected)


class RoleScopes(AssignmentView):
    """The scopes that a role holds."""

    assignment = services.SCOPES
    parent_thing = "role"
    columns = ("id", "name", "description", "resource_id", "resource__name")
    serializer_class = RoleScopeSerializer

    def shape(self, row: tuple[Any, ...]) -> Row:
        """Call the resource's name as the interface does."""
        shown = super().shape(row)
        shown["resource_name"] = shown.pop("resource__name")
        return shown


class RoleUsers(AssignmentView):
    """The users who have a role."""

    assignment = services.USERS
    parent_thing = "role"
    columns = ("id", "username", "name", "email", "avatar")
    serializer_class = RoleUserSerializer

    def shape(self, row: tuple[Any, ...]) -> Row:
        """Return a user. There are no pages, and written out ten thousand take a quarter of the time."""
        pk, username, name, email, avatar = row
        return {"id": pk, "username": username, "name": name, "email": email, "avatar": avatar}


class UserRoles(AssignmentView):
    """The system roles of a user."""

    assignment = services.OF_USER
    parent_thing = "user"
    columns = _COLUMNS
    serializer_class = RoleSerializer
