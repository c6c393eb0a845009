"""/organization-roles and /organization-permissions, which all organizations share."""

from identity.organizations import services
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
