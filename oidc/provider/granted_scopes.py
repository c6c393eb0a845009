"""What token requests read: the names of the scopes that roles grant now, and the resource."""

from typing import Final
from uuid import UUID

from database.batching import Work
from identity.core.tenant_statements import Select, SelectValues, text, uuid
from identity.organizations import memberships
from identity.resources.models import Resource
from identity.roles import services as roles
from oidc.applications import bindings

_RESOURCE: Final = Select(lambda: Resource.objects.filter(indicator=text("indicator"))[:1])
_OF_USER: Final = SelectValues(
    lambda: roles.get_user_scopes(uuid("user_id"), uuid("resource_id")).values_list("name")
)
_OF_MEMBER: Final = SelectValues(
    lambda: memberships.get_resource_scopes(uuid("membership_id"), uuid("resource_id")).values_list("name")
)
_PERMISSIONS_OF_MEMBER: Final = SelectValues(
    lambda: memberships.get_permissions(uuid("membership_id")).values_list("name")
)
_OF_APPLICATION: Final = SelectValues(
    lambda: (
        bindings.get_scopes(uuid("application_id")).filter(resource=uuid("resource_id")).values_list("name")
    )
)


def find_resource(indicator: str) -> Work[Resource | None]:
    """Return the resource with this indicator, or None."""
    return _RESOURCE.find(indicator=indicator)


def of_user(user_id: UUID, resource_id: UUID) -> Work[set[str]]:
    """Return the scopes of a resource that a user's system roles grant."""
    return _find_names(_OF_USER, user_id=user_id, resource_id=resource_id)


def of_member(membership_id: UUID, resource_id: UUID) -> Work[set[str]]:
    """Return the scopes of a resource that a member's roles in the organization grant."""
    return _find_names(_OF_MEMBER, membership_id=membership_id, resource_id=resource_id)


def permissions_of_member(membership_id: UUID) -> Work[set[str]]:
    """Return the permissions in the organization that a member's roles grant."""
    return _find_names(_PERMISSIONS_OF_MEMBER, membership_id=membership_id)


def of_application(application_id: UUID, resource_id: UUID) -> Work[set[str]]:
    """Return the scopes of a resource that an application's system roles grant."""
    return _find_names(_OF_APPLICATION, application_id=application_id, resource_id=resource_id)


def _find_names(query: SelectValues, **values: UUID) -> Work[set[str]]:
    return {name for (name,) in (yield from query.find_all(**values))}
