"""Authentication and permissions of the members API, for applications that are bound to the organization."""

from typing import Final

from django.db.models import Exists
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from audit import context
from database import ids
from identity.core import tenancy
from identity.core.tenant_statements import uuid
from identity.organizations.models import Organization
from identity.resources import services as resources
from identity.rest.bearer_authentication import BearerAuthentication
from management.members.errors import OrganizationGone
from oidc.applications import bindings
from oidc.applications.models import Application
from oidc.provider import client_principal
from oidc.provider.bearer import InvalidBearer
from oidc.provider.client_principal import Claims, ClientPrincipal, NotAClientToken, PrincipalQuery

_SUFFICIENT_SCOPES: Final = frozenset({resources.ALL, resources.MANAGE_ORGANIZATIONS})
_NO_QUERY: Final = PrincipalQuery()
_IN_ORGANIZATION: Final = PrincipalQuery(
    organization_exists=lambda: Exists(Organization.objects.filter(pk=uuid("organization_id"))),
    is_bound=lambda: bindings.is_bound(uuid("organization_id")),
    has_permission=lambda: bindings.has_permission(uuid("organization_id"), _SUFFICIENT_SCOPES),
    has_management_scope=lambda: bindings.has_management_scope(uuid("organization_id"), _SUFFICIENT_SCOPES),
)


class MachineAuthentication(BearerAuthentication):
    """Bearer tokens of client credentials."""

    def find_caller(self, token: str, request: Request) -> ClientPrincipal:
        """Return the application of the token.

        Raises:
            AuthenticationFailed: the token is invalid.
            PermissionDenied: the token belongs to a user.

        """
        try:
            caller = client_principal.authenticate(token, _get_principal_query)
        except InvalidBearer as error:
            raise AuthenticationFailed(str(error)) from None
        except NotAClientToken:
            raise PermissionDenied("the token is not a machine-to-machine token") from None
        context.set_actor(application_id=str(caller.application.pk))
        return caller


class ManagesMembers(BasePermission):
    """Allows applications that may manage the members of the organization in the path."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Check the token, the organization, the binding and the roles, in this order.

        Raises:
            PermissionDenied: one of the checks fails.
            OrganizationGone: the organization was deleted after the token was issued.

        """
        caller: object = request.user
        if not isinstance(caller, ClientPrincipal):
            return False
        organization_id = str(view.kwargs["organization_pk"])
        if caller.claims.get("organization_id") != organization_id:
            raise PermissionDenied("the token is for another organization")
        if not caller.audiences & _audiences(organization_id):
            raise PermissionDenied("the token is for another audience")
        if not caller.scopes & _SUFFICIENT_SCOPES:
            raise PermissionDenied("the scope lacks both manage:organizations and all")
        return self._check_current_grants(caller)

    def _check_current_grants(self, caller: ClientPrincipal) -> bool:
        if caller.application.type != Application.Type.MACHINE:
            raise PermissionDenied("the application is not of type MachineToMachine")
        if not caller.conditions.get("organization_exists"):
            raise OrganizationGone
        if not caller.conditions["is_bound"]:
            raise PermissionDenied("the application is not bound to the organization")
        if not (caller.conditions["has_permission"] or caller.conditions["has_management_scope"]):
            raise PermissionDenied("the application's roles no longer grant the scope")
        return True


def _get_principal_query(claims: Claims) -> tuple[PrincipalQuery, dict[str, object]]:
    """Return the query that checks the application of a token, and its parameters."""
    organization = ids.parse(str(claims.get("organization_id")))
    if organization is None:
        return _NO_QUERY, {}
    return _IN_ORGANIZATION, {"organization_id": organization}


def _audiences(organization_id: str) -> frozenset[str]:
    tenant = tenancy.active()
    return frozenset(
        {
            tenant.issuer,
            f"urn:service:organization:{organization_id}",
            resources.management_indicator(tenant.id),
        }
    )
