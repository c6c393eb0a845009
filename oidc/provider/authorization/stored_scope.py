"""The scope of an authorization request as it is stored with the code and the refresh family."""

from collections.abc import Iterable

from identity.organizations.models import OrganizationPermission
from identity.resources.models import Scope
from oidc.provider.authorization.request import Authorization
from oidc.provider.scopes import are_too_long


def get_stored(authorization: Authorization) -> str:
    """Return the identity scopes, then all others that were requested.

    If these others are longer than the scopes of a token may be, only those are stored that are permissions
    in the tenant. The rest is never granted, and clients could fill the database with it.
    """
    further = authorization.further_scopes
    if are_too_long(further):
        known = _find_permissions(further)
        further = tuple(name for name in further if name in known)
    return " ".join((*authorization.scopes, *further))


def _find_permissions(names: Iterable[str]) -> set[str]:
    """Return the names that are scopes of an API, or permissions in organizations."""
    scopes = Scope.objects.filter(name__in=names).values_list("name", flat=True)
    permissions = OrganizationPermission.objects.filter(name__in=names).values_list("name", flat=True)
    return {*scopes, *permissions}
