"""/roles, what they hold and who has them."""

from identity.core.viewsets import AssignmentView, CrudViewSet, Row, exactly
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

    def shape(self, row: Row) -> Row:
        """Call the resource's name as the interface does."""
        row["resource_name"] = row.pop("resource__name")
        return row


class RoleUsers(AssignmentView):
    """The users who have a role."""

    assignment = services.USERS
    parent_thing = "role"
    columns = ("id", "username", "name", "email", "avatar")
    serializer_class = RoleUserSerializer


class UserRoles(AssignmentView):
    """The system roles of a user."""

    assignment = services.OF_USER
    parent_thing = "user"
    columns = _COLUMNS
    serializer_class = RoleSerializer
