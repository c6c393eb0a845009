"""What a token may be for and may say beyond identity: resource, organization, their scopes.

Roles and memberships are read at every token request, so that what was taken away is gone
from the next token.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings

from identity.core import tenancy
from identity.organizations import memberships
from identity.organizations.models import Membership
from identity.resources.models import Resource, Scope
from identity.roles import services as roles
from identity.users.models import User
from oidc.applications import bindings
from oidc.applications.models import OrganizationApplication
from oidc.grants.consents import ConsentRequest, GrantedConsent
from oidc.provider.client_authentication import Client
from oidc.provider.errors import InvalidRequest, UnauthorizedClient
from oidc.provider.scopes import IDENTITY_SCOPES

_UNKNOWN: Final = "The {} is unknown, or not for this client."


@dataclass(frozen=True, slots=True)
class Target:
    """What a token is for: audience, lifetime in seconds, organization, and scopes beyond identity.

    ``consent_id`` is the row of the consent by which a third-party application has it.
    """

    audience: str | list[str]
    lifetime: int
    scopes: tuple[str, ...] = ()
    organization_id: UUID | None = None
    organization_is_admin: bool = False
    consent_id: UUID | None = None


def for_user(
    user: User,
    named: list[str],
    *,
    resource: str,
    organization_id: str,
    consent: GrantedConsent | None,
) -> Target:
    """Return the target of a user's token. ``consent`` limits a third-party application.

    Raises:
        InvalidRequest: the resource is unknown or was not agreed to, or the organization is or was not,
            or the user does not belong to it: never told which.

    """
    api = _resource(resource)
    membership = memberships.find_membership(user.pk, organization_id) if organization_id else None
    if organization_id and membership is None:
        raise InvalidRequest(_UNKNOWN.format("organization_id"))
    available = _available(user, api, membership)
    if consent is not None:
        available &= _consented_scopes(consent, api, membership)
    return Target(
        audience=_audience(api, membership.organization_id if membership else None),
        lifetime=api.access_token_ttl if api else settings.ACCESS_TOKEN_SECONDS,
        scopes=_chosen(available, named),
        organization_id=membership.organization_id if membership else None,
        organization_is_admin=bool(membership and membership.is_admin),
        consent_id=_consent_id(consent, membership),
    )


def _consented_scopes(
    consent: GrantedConsent, api: Resource | None, membership: Membership | None
) -> frozenset[str]:
    """Return the scopes that the user agreed to at the API or, without one, in the organization.

    Raises:
        InvalidRequest: the user did not agree to the API, or to the organization.

    """
    at_api = consent.resources.get(api.pk) if api else None
    in_organization = consent.organizations.get(membership.organization_id) if membership else None
    if api and at_api is None:
        raise InvalidRequest(_UNKNOWN.format("resource"))
    if membership and in_organization is None:
        raise InvalidRequest(_UNKNOWN.format("organization_id"))
    granted = at_api or in_organization
    return granted.scopes if granted else frozenset()


def _consent_id(consent: GrantedConsent | None, membership: Membership | None) -> UUID | None:
    """Return the row that a token names: that of its organization, or the consent as a whole."""
    if consent is None:
        return None
    return consent.organizations[membership.organization_id].id if membership else consent.id


def build_consent_request(
    user: User, identity: tuple[str, ...], named: list[str], *, resource: str, organization_id: str
) -> ConsentRequest:
    """Return what a user is asked to agree to: identity scopes, and what is available at each target."""
    api = Resource.objects.filter(indicator=resource).first() if resource else None
    membership = memberships.find_membership(user.pk, organization_id) if organization_id else None
    names = _chosen(_available(user, api, membership), named)
    return ConsentRequest(
        identity=identity,
        resource_id=api.pk if api else None,
        resource_scopes=names if api else (),
        organization_id=membership.organization_id if membership else None,
        organization_scopes=() if api else names,
    )


def _available(user: User, api: Resource | None, membership: Membership | None) -> set[str]:
    """Return what system roles and, in an organization, the roles there grant together."""
    available: set[str] = set()
    if api is not None:
        available |= set(roles.get_user_scopes(user.pk, api.pk).values_list("name", flat=True))
    if membership is not None:
        held = memberships.resource_scopes(membership, api.pk) if api else memberships.permissions(membership)
        available |= set(held.values_list("name", flat=True))
    return available


def for_machine(client: Client, named: list[str], *, resource: str, organization_id: str) -> Target:
    """Return the target of an application's own token.

    Raises:
        InvalidRequest: the resource is unknown, or the scopes named are of several.
        UnauthorizedClient: the application is not bound to the organization.

    """
    if organization_id:
        return _in_organization(client, named, resource, organization_id)
    if not resource and not client.has_roles:
        return Target(tenancy.active().issuer, settings.ACCESS_TOKEN_SECONDS)
    granted = bindings.get_scopes(client.application.pk)
    if resource:
        api = _resource(resource)
        assert api is not None  # noqa: S101 - a resource was named
        names = set(granted.filter(resource=api).values_list("name", flat=True))
        return Target(api.indicator, api.access_token_ttl, _chosen(names, named))
    return _inferred(list(granted.select_related("resource")), named)


def _inferred(granted: list[Scope], named: list[str]) -> Target:
    """Return the target when no resource was named: the one that all the scopes belong to."""
    meant = [scope for scope in granted if scope.name in named] if named else granted
    indicators = {scope.resource.indicator for scope in meant}
    if len(indicators) > 1 and named:
        raise InvalidRequest("The scopes belong to several resources: say which with resource.")
    if len(indicators) != 1:
        return Target(tenancy.active().issuer, settings.ACCESS_TOKEN_SECONDS)
    api = meant[0].resource
    names = {scope.name for scope in meant}
    return Target(api.indicator, api.access_token_ttl, _chosen(names, named))


def _in_organization(client: Client, named: list[str], resource: str, organization_id: str) -> Target:
    try:
        bound: OrganizationApplication = bindings.get_binding(organization_id, str(client.application.pk))
    except bindings.NotBound:
        raise UnauthorizedClient(_UNKNOWN.format("organization_id")) from None
    api = _resource(resource)
    held = bindings.get_resource_scopes(bound, api.pk) if api else bindings.get_permissions(bound)
    return Target(
        audience=_audience(api, bound.organization_id),
        lifetime=api.access_token_ttl if api else settings.ACCESS_TOKEN_SECONDS,
        scopes=_chosen(set(held.values_list("name", flat=True)), named),
        organization_id=bound.organization_id,
    )


def _resource(indicator: str) -> Resource | None:
    if not indicator:
        return None
    resource = Resource.objects.filter(indicator=indicator).first()
    if resource is None:
        raise InvalidRequest(_UNKNOWN.format("resource"))
    return resource


def _audience(api: Resource | None, organization_id: UUID | None) -> str | list[str]:
    if api is not None:
        return api.indicator
    issuer = tenancy.active().issuer
    if organization_id is None:
        return issuer
    return [issuer, f"urn:service:organization:{organization_id}"]


def _chosen(available: set[str], named: list[str]) -> tuple[str, ...]:
    """Return those that were named or, when none of the kind was, all. In a stable order.

    A scope or permission that is called like one of identity is never granted: RFC 9068 section 3,
    what a token authorizes must not be ambiguous.
    """
    available = available.difference(IDENTITY_SCOPES)
    wanted = [word for word in named if word not in IDENTITY_SCOPES]
    if not wanted:
        return tuple(sorted(available))
    return tuple(word for word in wanted if word in available)
