"""The target of an application's own token: its resource, organization and scopes.

Roles are read at every token request, so the next token lacks what an application has lost.
"""

from django.conf import settings

from database import batching
from identity.core import tenancy
from identity.resources.models import Resource, Scope
from oidc.applications import bindings
from oidc.applications.models import OrganizationApplication
from oidc.provider import granted_scopes
from oidc.provider.client_authentication import Client
from oidc.provider.errors import InvalidRequest, UnauthorizedClient
from oidc.provider.target import (
    UNKNOWN,
    Basis,
    Target,
    build_audience,
    get_resource,
    get_settings,
    select_scopes,
)


def resolve(client: Client, requested: list[str], *, resource: str, organization_id: str) -> Target:
    """Return the target of an application's own token.

    Raises:
        InvalidRequest: the resource is unknown, or the requested scopes belong to several.
        UnauthorizedClient: the application is not bound to the organization.
        errors.TooManyScopes: the scopes are too many for a token.

    """
    if organization_id:
        return _resolve_in_organization(client, requested, resource, organization_id)
    if not resource and not client.has_roles:
        return Target(tenancy.active().issuer, settings.ACCESS_TOKEN_SECONDS)
    if resource:
        api = batching.run(get_resource(resource))
        names = batching.run(granted_scopes.of_application(client.application.pk, api.pk))
        basis = Basis(api.pk, api.version, tuple(sorted(names)), is_of_resource=True)
        return _build_target(api, names, requested, basis)
    granted = bindings.get_scopes(client.application.pk).select_related("resource")
    return _infer_target(list(granted), requested)


def _infer_target(granted: list[Scope], requested: list[str]) -> Target:
    """Return the target of a request without ``resource``: the resource that all its scopes belong to."""
    matching = [scope for scope in granted if scope.name in requested] if requested else granted
    indicators = {scope.resource.indicator for scope in matching}
    if len(indicators) > 1 and requested:
        raise InvalidRequest("The scopes belong to several resources: say which with resource.")
    if len(indicators) != 1:
        return Target(tenancy.active().issuer, settings.ACCESS_TOKEN_SECONDS)
    api = matching[0].resource
    names = {scope.name for scope in matching}
    return _build_target(api, names, requested, _find_basis(api, granted))


def _find_basis(api: Resource, granted: list[Scope]) -> Basis | None:
    """Return the basis of a target whose resource was inferred; None if scopes of another one are granted."""
    if any(scope.resource_id != api.pk for scope in granted):
        return None
    return Basis(api.pk, api.version, tuple(sorted(scope.name for scope in granted)), is_of_resource=False)


def _build_target(api: Resource, names: set[str], requested: list[str], basis: Basis | None) -> Target:
    return Target(
        audience=api.indicator,
        lifetime=api.access_token_ttl,
        scopes=select_scopes(names, requested),
        basis=basis,
        **get_settings(api),
    )


def _resolve_in_organization(
    client: Client, requested: list[str], resource: str, organization_id: str
) -> Target:
    try:
        binding: OrganizationApplication = bindings.get_binding(organization_id, str(client.application.pk))
    except bindings.NotBound:
        raise UnauthorizedClient(UNKNOWN.format("organization_id")) from None
    api = batching.run(get_resource(resource)) if resource else None
    granted = bindings.get_resource_scopes(binding, api.pk) if api else bindings.get_permissions(binding)
    return Target(
        audience=build_audience(api, binding.organization_id),
        lifetime=api.access_token_ttl if api else settings.ACCESS_TOKEN_SECONDS,
        scopes=select_scopes(set(granted.values_list("name", flat=True)), requested),
        organization_id=binding.organization_id,
        **get_settings(api),
    )
