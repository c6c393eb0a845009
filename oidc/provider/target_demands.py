"""What a token demands of the sign-in: two factors for an organization, a level for an API or application."""

from dataclasses import dataclass

from database import batching
from identity.factors.levels import Level
from identity.organizations import memberships
from identity.organizations.models import Membership
from identity.resources.models import Resource
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants import remembered
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.models import RefreshFamily
from oidc.provider.errors import InvalidRequest
from oidc.settings import acr_levels


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong the sign-in of a session, code or refresh family was."""

    level: int
    grant: Session | CodeSignIn | RefreshFamily

    def satisfies_organizations(self) -> bool:
        """Return whether organizations that require two factors accept the sign-in.

        In a remembered browser, the user was not asked for a second factor. They accept that, too, if the
        tenant's policy still does.
        """
        return self.level >= Level.TWO or remembered.counts(self.grant)


def get_strength(grant: Session | CodeSignIn | RefreshFamily) -> Strength:
    """Return the strength of the sign-in behind a session, a code or a refresh family."""
    return Strength(grant.level, grant)


def check(strength: Strength, api: Resource | None, membership: Membership | None) -> None:
    """Check that a sign-in is strong enough for a token, after it is known that the user may have the target.

    Raises:
        InvalidRequest: the user has to sign in with another factor. The description says for what.

    """
    if membership and membership.organization.is_mfa_required and not strength.satisfies_organizations():
        raise InvalidRequest("mfa_required: the organization requires a sign-in with two factors")
    if api and strength.level < acr_levels.get_required_level(api.required_acr):
        raise InvalidRequest(f"mfa_required: the API requires a sign-in with acr {api.required_acr}")


def check_application(strength: Strength, application: Application) -> None:
    """Check that a sign-in still has the ``acr`` that the application requires, which may have changed since.

    Raises:
        InvalidRequest: the user has to sign in with another factor.

    """
    required = application.required_acr
    if strength.level < acr_levels.get_required_level(required):
        raise InvalidRequest(f"mfa_required: the application requires a sign-in with acr {required}")


def are_met(session: Session, *, resource: str, organization_id: str) -> bool:
    """Return whether a session is strong enough for the target of an authorization request.

    An organization of which the user is no member demands nothing, so that the response reveals nothing about
    it. In a tenant without second factors nothing is read here: the token endpoint refuses what is not met.
    """
    if session.highest_level <= Level.ONE:
        return True
    strength = get_strength(session)
    if organization_id and strength.level < Level.TWO:
        membership = batching.run(memberships.find_membership(session.user_id, organization_id))
        is_required = membership is not None and membership.organization.is_mfa_required
        if is_required and not strength.satisfies_organizations():
            return False
    return strength.level >= get_resource_level(resource)


def get_resource_level(indicator: str) -> int:
    """Return the level that an API requires: 1 without an API."""
    if not indicator:
        return Level.ONE
    found = Resource.objects.filter(indicator=indicator).values_list("required_acr", flat=True).first()
    return acr_levels.get_required_level(found or "")
