"""Access of machine applications: system roles, and bindings to organizations with roles in them."""

from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from database.list_parameters import among, among_texts
from database.parameters import Parameter
from identity.core import records
from identity.core.assignments import Assignment
from identity.core.errors import FieldError, ServiceError
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
from oidc.applications import management_access
from oidc.applications.models import (
    Application,
    ApplicationRole,
    OrganizationApplication,
    OrganizationApplicationRole,
)


class NotMachineToMachine(ServiceError):
    """Only machine applications can have system roles or be bound to organizations."""

    reason = "not_a_machine"
    message = gettext_noop("role_ids: only a MachineToMachine application can have system roles")
    field_errors = (
        FieldError("role_ids", "only a MachineToMachine application can have system roles", "conflict"),
    )


ROLES: Final = Assignment(
    ApplicationRole,
    "application",
    "role",
    "role_ids",
    Event.APPLICATION_UPDATE,
    item_filter={"type": Role.Type.MACHINE},
    parent_filter={"type": Application.Type.MACHINE},
    refusal=NotMachineToMachine,
    needs_proof=management_access.is_added,
)
OF_ROLE: Final = Assignment(ApplicationRole, "role", "application", "application_ids", Event.ROLE_UPDATE)
IN_ORGANIZATION: Final = Assignment(
    OrganizationApplicationRole,
    "binding",
    "role",
    "organization_role_ids",
    Event.ORGANIZATION_APPLICATION_UPDATE,
    item_filter={"type": OrganizationRole.Type.MACHINE},
)


class NotBound(ServiceError):
    """The application is not bound to the organization."""

    status = 404
    reason = "not_bound"
    message = gettext_noop("application not found in this organization")


@transaction.atomic
def bind(organization_id: UUID, application_ids: list[str]) -> None:
    """Bind applications to an organization, in addition to those that are bound already.

    Raises:
        NoSuchOrganization: the organization is unknown.
        UnknownIds: an id is not that of a machine application of this tenant; nothing is changed.

    """
    if not records.increment_version(Organization, organization_id, None):
        raise NoSuchOrganization
    parsed = {text: ids.parse(text) for text in dict.fromkeys(application_ids)}
    bindings = OrganizationApplication.objects.filter(
        organization=organization_id, application=OuterRef("pk")
    )
    found = dict(
        Application.objects.filter(
            among("pk", [pk for pk in parsed.values() if pk]), type=Application.Type.MACHINE
        )
        .annotate(is_bound=Exists(bindings))
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


def get_binding(organization_id: str, application_id: str) -> OrganizationApplication:
    """Return the binding of an application to an organization.

    Raises:
        NotBound: there is none, or an id is malformed.

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


def unbind(binding: OrganizationApplication, *, expected: frozenset[int] | None) -> None:
    """Remove an application from an organization, with its roles there.

    Raises:
        records.Stale: the binding was changed since the caller read it.

    """
    records.remove(
        binding,
        expected=expected,
        event=Event.ORGANIZATION_APPLICATION_DELETE,
        application_ids=[str(binding.application_id)],
        organization_id=binding.organization_id,
    )


def get_scopes(application_id: UUID | Parameter) -> QuerySet[Scope]:
    """Return the scopes, of all resources, that an application's system roles grant."""
    roles = ApplicationRole.objects.filter(application=application_id).values("role_id")
    return Scope.objects.filter(pk__in=RoleScope.objects.filter(role__in=roles).values("scope_id"))


def get_permissions(binding: OrganizationApplication) -> QuerySet[OrganizationPermission]:
    """Return the permissions that a bound application's roles in the organization grant."""
    roles = OrganizationApplicationRole.objects.filter(binding=binding).values("role_id")
    permission_ids = OrganizationRolePermission.objects.filter(role__in=roles).values("permission_id")
    return OrganizationPermission.objects.filter(pk__in=permission_ids)


def get_resource_scopes(binding: OrganizationApplication, resource_id: UUID) -> QuerySet[Scope]:
    """Return the scopes of a resource that a bound application's roles in the organization grant."""
    roles = OrganizationApplicationRole.objects.filter(binding=binding).values("role_id")
    scope_ids = OrganizationRoleScope.objects.filter(role__in=roles).values("scope_id")
    return Scope.objects.filter(resource=resource_id, pk__in=scope_ids)


def is_granted_exactly(
    granted: QuerySet[Scope], resource_id: Parameter, names: Parameter, number: Parameter
) -> Q:
    """Return the condition that ``granted`` has all ``number`` scopes ``names`` of a resource, and no other.

    ``names`` is a parameter for ``among_texts``.
    """
    named = among_texts("name", names)
    expected = granted.filter(named, resource=resource_id)
    counted = expected.order_by().values("resource").annotate(number=Count("pk")).values("number")
    others = granted.exclude(pk__in=expected.values("pk"))
    return Q(~Exists(others)) & Q(Exact(Coalesce(Subquery(counted), Value(0)), number))


def is_granted(indicator: str | Parameter, names: frozenset[str]) -> Exists:
    """Return the condition that an application's system roles grant one of these scopes of a resource."""
    roles = ApplicationRole.objects.filter(application=OuterRef(OuterRef("pk"))).values("role_id")
    return Exists(
        RoleScope.objects.filter(role__in=roles, scope__resource__indicator=indicator, scope__name__in=names)
    )


def is_bound(organization_id: UUID | Parameter) -> Exists:
    """Return the condition that an application is bound to an organization."""
    return Exists(
        OrganizationApplication.objects.filter(organization=organization_id, application=OuterRef("pk"))
    )


def has_permission(organization_id: UUID | Parameter, names: frozenset[str]) -> Exists:
    """Return the condition that an application's roles in an organization grant one of these permissions."""
    return Exists(
        OrganizationRolePermission.objects.filter(
            role__in=_roles_in(organization_id), permission__name__in=names
        )
    )


def has_management_scope(organization_id: UUID | Parameter, names: frozenset[str]) -> Exists:
    """Return the condition that an application's roles in an organization grant one of these scopes.

    The scopes are those of the tenant's management API.
    """
    return Exists(
        OrganizationRoleScope.objects.filter(
            role__in=_roles_in(organization_id), scope__is_protected=True, scope__name__in=names
        )
    )


def _roles_in(organization_id: UUID | Parameter) -> QuerySet[OrganizationApplicationRole, Any]:
    """Return the roles in an organization of an application, which is the row of the outermost query."""
    return OrganizationApplicationRole.objects.filter(
        binding__organization=organization_id, binding__application=OuterRef(OuterRef("pk"))
    ).values("role_id")
