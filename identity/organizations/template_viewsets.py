"""/organization-roles and /organization-permissions, which all organizations share."""

from uuid import UUID

from identity.organizations import permission_lists, services
from identity.organizations.models import OrganizationPermission, OrganizationRole
from identity.organizations.serializers import (
    NamedSerializer,
    OrganizationPermissionSerializer,
    OrganizationRoleSerializer,
)
from identity.resources.serializers import BriefScopeSerializer
from identity.rest.assignment_view import AssignmentView
from identity.rest.filters import contains
from identity.rest.viewsets import CrudViewSet


class OrganizationRoleViewSet(CrudViewSet):
    """Organization roles."""

    model = OrganizationRole
    resource_name = "organization role"
    serializer_class = OrganizationRoleSerializer
    columns = ("id", "name", "description", "type", "created_at", "updated_at")
    filters = {"search": contains("name", "description")}


class OrganizationRoleScopes(AssignmentView):
    """The permissions of an organization role."""

    assignment = services.PERMISSIONS
    parent_name = "organization role"
    columns = ("id", "name", "description")
    serializer_class = NamedSerializer

    def replace(self, parent_id: UUID, item_ids: list[str], expected: frozenset[int] | None) -> None:
        """Replace the permissions.

        Raises:
            ScopesOfAPIs: an id is that of a scope of an API resource.

        """
        with permission_lists.recognizing_scopes():
            super().replace(parent_id, item_ids, expected)


class OrganizationRoleResourceScopes(AssignmentView):
    """The API resource scopes of an organization role."""

    assignment = services.RESOURCE_SCOPES
    parent_name = "organization role"
    columns = ("id", "name", "description", "resource_id")
    serializer_class = BriefScopeSerializer


class OrganizationPermissionViewSet(CrudViewSet):
    """Organization permissions."""

    model = OrganizationPermission
    resource_name = "organization permission"
    serializer_class = OrganizationPermissionSerializer
    columns = ("id", "name", "description", "created_at")
    filters = {"search": contains("name", "description")}
