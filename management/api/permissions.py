"""Permissions of the management API."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from rest_framework.exceptions import NotFound
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from identity.core import tenancy
from identity.core.tenant_statements import text
from identity.resources import services as resources
from identity.roles.services import MANAGEMENT_ROLE
from management.administrators.models import Administrator
from oidc.applications import bindings
from oidc.provider.client_principal import Claims, ClientPrincipal, PrincipalQuery

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module through its settings

# The scopes of the management API that allow a route, by the route's name. All other routes need ``all``.
# To add a narrower scope, add a row here; no view changes.
SCOPES: Final[Mapping[str, frozenset[str]]] = {}
_ALL: Final = frozenset({resources.ALL})


class ManagesTenant(BasePermission):
    """Allows administrators of the tenant, and machine applications whose roles grant the scope."""

    message = "you may not manage this tenant"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the caller may now use this route in the active tenant."""
        caller: object = request.user
        if isinstance(caller, Administrator):
            return caller.manages_tenant and self._role_allows(caller, request)
        if isinstance(caller, ClientPrincipal):
            self.message = _find_problem(caller, request)
            return not self.message
        return False

    def _role_allows(self, caller: Administrator, request: Request) -> bool:
        """Return whether the administrator's role allows the request, and set the message if not."""
        is_allowed = _role_allows(caller, request)
        if not is_allowed:
            self.message = f"the role {caller.role} does not allow this"
        return is_allowed


def _role_allows(caller: Administrator, request: Request) -> bool:
    """Return whether the role of an administrator allows this route, method and fields."""
    if request.method in SAFE_METHODS:
        return True
    route, method = _route(request), str(request.method)
    if not caller.may_write(route, method, ()):
        return False
    body = request.data if isinstance(request.data, Mapping) else {}
    return caller.may_write(route, method, _name_fields(body))


def _name_fields(body: Mapping[str, object]) -> set[str]:
    """Return the names of fields, and those of the members of a profile, such as ``profile.gender``."""
    profile = body.get("profile")
    members = profile if isinstance(profile, Mapping) else {}
    return {*body, *(f"profile.{name}" for name in members)}


def get_principal_query(request: Request, claims: Claims) -> tuple[PrincipalQuery, dict[str, object]]:
    """Return the query that checks the application of a token, and its parameters."""
    scopes = frozenset(claims["scope"].split()) & _sufficient_scopes(request)
    return _grant_query(scopes), {"indicator": _indicator()}


@cache
def _grant_query(scopes: frozenset[str]) -> PrincipalQuery:
    """Return the query that checks whether a role grants one of the scopes. ``SCOPES`` bounds the cache."""
    return PrincipalQuery(is_granted=lambda: bindings.is_granted(text("indicator"), scopes))


def _find_problem(caller: ClientPrincipal, request: Request) -> str:
    """Return why the token or the roles of an application do not allow the route, or an empty text."""
    sufficient = _sufficient_scopes(request)
    if "organization_id" in caller.claims:
        return "a token for an organization may not do this: request one without organization_id"
    if not caller.scopes & sufficient:
        role = f"the role {MANAGEMENT_ROLE}" if sufficient == _ALL else "a role that has it"
        scopes = " or ".join(sorted(sufficient))
        return f"the token does not have the scope {scopes}: give the application {role}"
    if caller.audiences != {_indicator()}:
        return f"the token is not for this API alone: request one with resource={_indicator()}"
    if not caller.conditions["is_granted"]:
        return "the application has no role that allows this any more"
    return ""


def _sufficient_scopes(request: Request) -> frozenset[str]:
    """Return the scopes each of which allows the route."""
    return SCOPES.get(_route(request), _ALL)


def _route(request: Request) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _indicator() -> str:
    return resources.management_indicator(tenancy.active_id())


class IsSuperuser(BasePermission):
    """Allows administrators of every tenant, and no applications."""

    message = "only an administrator of every tenant may do this"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the caller manages every tenant.

        Raises:
            NotFound: the path is below a tenant's prefix, where these routes do not exist.

        """
        if tenancy.active_id() != tenancy.DEFAULT_ID:
            raise NotFound
        caller: object = request.user
        return isinstance(caller, Administrator) and caller.is_superuser and _role_allows(caller, request)
