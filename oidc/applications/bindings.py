"""What machine applications may do: system roles, and organizations with roles in them."""

from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from audit import log
from audit.events import Event
from database import ids
from database.id_lists import among
from database.statements import Given
from identity.core import records
from identity.core.assignments import Assignment
from identity.core.errors import ServiceError
from identity.core.records import UnknownIds
from identity.organizations.models import (
    Organization,
    OrganizationPermission,
    OrganizationRole,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.organizations.services import NoSuchOrganization
from identity.resources.models import Scope
from identity.roles.models import Role, RoleScope
from oidc.applications.models import (
    Application,
    ApplicationRole,
    OrganizationApplication,
    OrganizationApplicationRole,
)


class NotAMachine(ServiceError):
    """Only machine applications take system roles or are bound to organizations."""

    reason = "not_a_machine"
    message = "role_ids: only a MachineToMachine application can have system roles"


ROLES: Final = Assignment(
    ApplicationRole,
    "application",
    "role",
    "role_ids",
    Event.APPLICATION_UPDATE,
    allowed={"type": Role.Type.MACHINE},
    takers={"type": Application.Type.MACHINE},
    refusal=NotAMachine,
)
OF_ROLE: Final = Assignment(ApplicationRole, "role", "application", "application_ids", Event.ROLE_UPDATE)
IN_ORGANIZATION: Final = Assignment(
    OrganizationApplicationRole,
    "binding",
    "role",
    "organization_role_ids",
    Event.ORGANIZATION_APPLICATION_UPDATE,
    allowed={"type": OrganizationRole.Type.MACHINE},
)


class NotBound(ServiceError):
    """The application is not bound to the organization."""

    status = 404
    reason = "not_bound"
    message = "application not found in this organization"


@transaction.atomic
def bind(organization_id: UUID, given: list[str]) -> None:
    """Bind applications to an organization; those bound already stay so.

    Raises:
        NoSuchOrganization: it is unknown.
        UnknownIds: an id is no machine application of this tenant; nothing is changed.

    """
    if not records.touch(Organization, organization_id, None):
        raise NoSuchOrganization
    parsed = {text: ids.parse(text) for text in dict.fromkeys(given)}
    bound = OrganizationApplication.objects.filter(organization=organization_id, application=OuterRef("pk"))
    found = dict(
        Application.objects.filter(
            among("pk", [pk for pk in parsed.values() if pk]), type=Application.Type.MACHINE
        )
        .annotate(is_bound=Exists(bound))
        .values_list("pk", "is_bound")
    )
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds("application_ids", unknown)
    OrganizationApplication.objects.bulk_create(
        OrganizationApplication(organization_id=organization_id, application_id=pk)
        for pk, is_bound in found.items()
        if not is_bound
    )
    log.record(
        Event.ORGANIZATION_APPLICATION_CREATE,
        id=organization_id,
        application_ids=[str(pk) for pk in found],
    )


def binding(organization_id: str, application_id: str) -> OrganizationApplication:
    """Return the binding of an application to an organization.

    Raises:
        NotBound: there is none, or an id is no id.

    """
    organization, application = ids.parse(organization_id), ids.parse(application_id)
    found = None
    if organization and application:
        found = OrganizationApplication.objects.filter(
            organization=organization, application=application
        ).first()
    if found is None:
        raise NotBound
    return found


def unbind(bound: OrganizationApplication, *, expected: frozenset[int] | None) -> None:
    """Take an application out of an organization, with the roles it has there.

    Raises:
        records.Stale: the binding was changed since the caller read it.

    """
    records.remove(
        bound,
        expected=expected,
        event=Event.ORGANIZATION_APPLICATION_DELETE,
        application_ids=[str(bound.application_id)],
        organization_id=bound.organization_id,
    )


def scopes_of(application_id: UUID) -> QuerySet[Scope]:
    """Return the scopes, of any resource, that an application's system roles grant now."""
    roles = ApplicationRole.objects.filter(application=application_id).values("role_id")
    return Scope.objects.filter(pk__in=RoleScope.objects.filter(role__in=roles).values("scope_id"))


def permissions_in(bound: OrganizationApplication) -> QuerySet[OrganizationPermission]:
    """Return the permissions of a bound application's roles in that organization, now."""
    roles = OrganizationApplicationRole.objects.filter(binding=bound).values("role_id")
    held = OrganizationRolePermission.objects.filter(role__in=roles).values("permission_id")
    return OrganizationPermission.objects.filter(pk__in=held)


def resource_scopes_in(bound: OrganizationApplication, resource_id: UUID) -> QuerySet[Scope]:
    """Return the scopes of a resource that those roles carry, now."""
    roles = OrganizationApplicationRole.objects.filter(binding=bound).values("role_id")
    carried = OrganizationRoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=carried)


def is_granted(indicator: str | Given, names: frozenset[str]) -> Exists:
    """Ask, in a query of applications, whether system roles grant one of these scopes of a resource."""
    roles = ApplicationRole.objects.filter(application=OuterRef(OuterRef("pk"))).values("role_id")
    return Exists(
        RoleScope.objects.filter(role__in=roles, scope__resource__indicator=indicator, scope__name__in=names)
    )


def is_bound(organization_id: UUID | Given) -> Exists:
    """Ask, in a query of applications, whether one is bound to an organization."""
    return Exists(
        OrganizationApplication.objects.filter(organization=organization_id, application=OuterRef("pk"))
    )


def holds_in(organization_id: UUID | Given, names: frozenset[str]) -> Exists:
    """Ask, in a query of applications, whether roles in an organization hold one of these permissions."""
    return Exists(
        OrganizationRolePermission.objects.filter(
            role__in=_roles_in(organization_id), permission__name__in=names
        )
    )


def carries_in(organization_id: UUID | Given, names: frozenset[str]) -> Exists:
    """Ask the same of the scopes of the tenant's management API that those roles carry."""
    return Exists(
        OrganizationRoleScope.objects.filter(
            role__in=_roles_in(organization_id), scope__is_protected=True, scope__name__in=names
        )
    )


def _roles_in(organization_id: UUID | Given) -> QuerySet[OrganizationApplicationRole, Any]:
    """Return the roles in an organization of the application of the query but one around this."""
    return OrganizationApplicationRole.objects.filter(
        binding__organization=organization_id, binding__application=OuterRef(OuterRef("pk"))
    ).values("role_id")
