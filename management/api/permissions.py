"""What callers of the management API may do, as one table."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from rest_framework.exceptions import NotFound
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from identity.core import tenancy
from identity.core.tenant_statements import text
from identity.resources import services as resources
from management.administrators.models import Administrator
from oidc.applications import bindings
from oidc.provider.client_principal import Asking, Claims, Machine

if TYPE_CHECKING:
    from rest_framework.views import APIView  # imports this module by way of its settings

# Which scopes of the management API open a route, by its name; all others need ``all``.
# A finer scope is a row here, and no view changes.
SCOPES: Final[Mapping[str, frozenset[str]]] = {}
_EVERYTHING: Final = frozenset({resources.ALL})


class ManagesTenant(BasePermission):
    """Lets administrators into the tenants they manage, and applications where their roles say so."""

    message = "you may not manage this tenant"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Tell whether the caller may use this route of the active tenant, as of now."""
        caller: object = request.user
        if isinstance(caller, Administrator):
            return caller.manages_tenant and self._role_allows(caller, request)
        if isinstance(caller, Machine):
            return _is_open_to(caller, request)
        return False

    def _role_allows(self, caller: Administrator, request: Request) -> bool:
        """Tell whether the administrator's role goes so far; the refusal then says that it does not."""
        allowed = _role_allows(caller, request)
        if not allowed:
            self.message = f"this is not for the role {caller.role}"
        return allowed


def _role_allows(caller: Administrator, request: Request) -> bool:
    """Tell whether the role of an administrator opens this route by this method."""
    if request.method in SAFE_METHODS:
        return True
    route, method = _route(request), str(request.method)
    if not caller.may_write(route, method, ()):
        return False
    sent = request.data if isinstance(request.data, Mapping) else {}
    return caller.may_write(route, method, sent.keys())


def questions(request: Request, claims: Claims) -> tuple[Asking, dict[str, object]]:
    """Return what has to be known of an application that comes with these claims."""
    named = frozenset(claims["scope"].split()) & _enough(request)
    return _whether_granted(named), {"indicator": _indicator()}


@cache
def _whether_granted(names: frozenset[str]) -> Asking:
    """Ask for scopes of ``SCOPES``, and for no others: there are few such sets."""
    return Asking(is_granted=lambda: bindings.is_granted(text("indicator"), names))


def _is_open_to(caller: Machine, request: Request) -> bool:
    """Tell whether token and roles both open the route. A token of an organization never does."""
    return (
        "organization_id" not in caller.claims
        and caller.audiences == {_indicator()}
        and bool(caller.scopes & _enough(request))
        and caller.answers["is_granted"]
    )


def _enough(request: Request) -> frozenset[str]:
    """Return the scopes each of which opens the route of a request."""
    return SCOPES.get(_route(request), _EVERYTHING)


def _route(request: Request) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _indicator() -> str:
    return resources.management_indicator(tenancy.active_id())


class IsSuperuser(BasePermission):
    """Lets administrators of every tenant in, and never an application."""

    message = "only an administrator of every tenant may do this"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Tell whether the caller manages every tenant.

        Raises:
            NotFound: below a tenant's prefix these routes do not exist.

        """
        if tenancy.active_id() != tenancy.DEFAULT_ID:
            raise NotFound
        caller: object = request.user
        return isinstance(caller, Administrator) and caller.is_superuser and _role_allows(caller, request)
