"""The target of an access token: its resource, organization and scopes beyond identity.

Roles and memberships are read at every token request, so the next token lacks what a user has lost.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from database.batching import Work
from identity.core import tenancy
from identity.organizations import memberships
from identity.organizations.models import Membership
from identity.resources.custom_claims import Declaration
from identity.resources.models import Resource
from identity.users.models import User
from oidc.grants.consents import ConsentRequest, GrantedConsent
from oidc.provider import granted_scopes, target_demands
from oidc.provider.errors import InvalidRequest, TooManyScopes
from oidc.provider.scopes import NEWER, RESERVED, are_too_long
from oidc.provider.target_demands import Strength

UNKNOWN: Final = "The {} is unknown, or not for this client."


@dataclass(frozen=True, slots=True)
class Basis:
    """The rows on which the target of an application's own token depends.

    The application's roles grant the scopes ``names`` of this resource, and no other scope of it. Unless
    ``is_of_resource``, they grant no scope of another resource either.
    """

    resource_id: UUID
    resource_version: int
    names: tuple[str, ...]
    is_of_resource: bool


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an access token. ``lifetime`` is in seconds, ``scopes`` are those beyond identity.

    ``consent_id`` is the row of the consent on which a third-party application's token depends.
    ``signing_alg`` is the algorithm that the resource names, or empty for the tenant's default.
    The resource asks for ``claims`` and ``custom_claims``. ``basis`` is set for an application's own token
    whose target depends only on the basis and the application.
    """

    audience: str | list[str]
    lifetime: int
    scopes: tuple[str, ...] = ()
    organization_id: UUID | None = None
    organization_is_admin: bool = False
    consent_id: UUID | None = None
    signing_alg: str = ""
    claims: tuple[str, ...] = ()
    custom_claims: tuple[Declaration, ...] = ()
    basis: Basis | None = None


def resolve_for_user(  # noqa: PLR0913 - what a target depends on
    user: User,
    requested: list[str],
    *,
    resource: str,
    organization_id: str,
    consent: GrantedConsent | None,
    strength: Strength | None,
) -> Work[Target]:
    """Return the target of a user's token. ``consent`` limits a third-party application.

    ``strength`` is that of the sign-in, or None for a preview.

    Raises:
        InvalidRequest: the resource or organization is unknown, the user did not agree to it, or is not a
            member, with the same message for all of these; or it requires a stronger sign-in.
        TooManyScopes: see ``select_scopes``.

    """
    api = (yield from get_resource(resource)) if resource else None
    membership = yield from _find_membership(user, organization_id)
    if organization_id and membership is None:
        raise InvalidRequest(UNKNOWN.format("organization_id"))
    available = yield from _get_available_names(user, api, membership)
    if consent is not None:
        available &= _get_consented_scopes(consent, api, membership)
    if strength is not None:
        target_demands.check(strength, api, membership)
    if consent is not None and api is None:
        # Userinfo accepts this token, and must not take a permission for consent to an identity scope.
        available = available.difference(NEWER)
    return Target(
        audience=build_audience(api, membership.organization_id if membership else None),
        lifetime=api.access_token_ttl if api else settings.ACCESS_TOKEN_SECONDS,
        scopes=select_scopes(available, requested),
        organization_id=membership.organization_id if membership else None,
        organization_is_admin=bool(membership and membership.is_admin),
        consent_id=_get_consent_id(consent, membership),
        **get_settings(api),
    )


def _find_membership(user: User, organization_id: str) -> Work[Membership | None]:
    return (yield from memberships.find_membership(user.pk, organization_id)) if organization_id else None


def _get_consented_scopes(
    consent: GrantedConsent, api: Resource | None, membership: Membership | None
) -> frozenset[str]:
    """Return the scopes that the user agreed to at the API, in the organization, or at the API in it.

    Raises:
        InvalidRequest: the user did not agree to the API, to the organization, or to both together.

    """
    at_api = consent.resources.get(api.pk) if api else None
    in_organization = consent.organizations.get(membership.organization_id) if membership else None
    if api and at_api is None:
        raise InvalidRequest(UNKNOWN.format("resource"))
    if membership and in_organization is None:
        raise InvalidRequest(UNKNOWN.format("organization_id"))
    if api and membership:
        names = consent.find_scopes(api.pk, membership.organization_id)
        if names is None:
            raise InvalidRequest(UNKNOWN.format("resource"))
        return names
    granted = at_api or in_organization
    return granted.scopes if granted else frozenset()


def _get_consent_id(consent: GrantedConsent | None, membership: Membership | None) -> UUID | None:
    """Return the row of the consent to the organization or, without an organization, of the whole consent."""
    if consent is None:
        return None
    return consent.organizations[membership.organization_id].id if membership else consent.id


def build_consent_request(
    user: User, identity: tuple[str, ...], requested: list[str], *, resource: str, organization_id: str
) -> Work[ConsentRequest]:
    """Return what a user is asked to agree to: identity scopes, and the scopes of the target."""
    api = (yield from granted_scopes.find_resource(resource)) if resource else None
    membership = yield from _find_membership(user, organization_id)
    # Not refused if they are too many for a token: an application that the user has not agreed to must not
    # learn what the user's roles grant.
    names = _select((yield from _get_available_names(user, api, membership)), requested)
    organization = membership.organization_id if membership else None
    if api is None:
        return ConsentRequest(identity, organization_id=organization, organization_scopes=names)
    return ConsentRequest(identity, resource_id=api.pk, resource_scopes=names, organization_id=organization)


def _get_available_names(user: User, api: Resource | None, membership: Membership | None) -> Work[set[str]]:
    """Return the names of the scopes that system roles and the roles in the organization grant together."""
    available: set[str] = set()
    if api is not None:
        available |= yield from granted_scopes.of_user(user.pk, api.pk)
    if membership is not None and api is not None:
        available |= yield from granted_scopes.of_member(membership.pk, api.pk)
    elif membership is not None:
        available |= yield from granted_scopes.permissions_of_member(membership.pk)
    return available


def get_settings(api: Resource | None) -> dict[str, Any]:
    """Return the algorithm and the claims that an API asks for, as parameters of ``Target``."""
    if api is None:
        return {}
    return {
        "signing_alg": api.access_token_signing_alg,
        "claims": tuple(api.claims),
        "custom_claims": tuple(api.custom_claims),
    }


def get_resource(indicator: str) -> Work[Resource]:
    """Return the resource with this indicator.

    Raises:
        InvalidRequest: it is unknown.

    """
    resource = yield from granted_scopes.find_resource(indicator)
    if resource is None:
        raise InvalidRequest(UNKNOWN.format("resource"))
    return resource


def build_audience(api: Resource | None, organization_id: UUID | None) -> str | list[str]:
    if api is not None:
        return api.indicator
    issuer = tenancy.active().issuer
    if organization_id is None:
        return issuer
    return [issuer, f"urn:service:organization:{organization_id}"]


def select_scopes(available: set[str], requested: list[str]) -> tuple[str, ...]:
    """Return the scopes of a token: the available ones that were requested, or all of them if none was.

    Raises:
        TooManyScopes: they have more than 6 KiB together.

    """
    scopes = _select(available, requested)
    if are_too_long(scopes):
        raise TooManyScopes
    return scopes


def _select(available: set[str], requested: list[str]) -> tuple[str, ...]:
    """Return the available scopes that were requested, each once, or all available ones if none was.

    A scope with a reserved name is never granted. RFC 9068 section 3: what a token authorizes must not be
    ambiguous.
    """
    available = available.difference(RESERVED)
    words = dict.fromkeys(requested)
    further = [name for name in words if name in available or name not in {*RESERVED, *NEWER}]
    if not further:
        return tuple(sorted(available))
    return tuple(name for name in further if name in available)
