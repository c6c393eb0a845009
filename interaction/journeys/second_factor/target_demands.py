"""What organizations and APIs demand of a sign-in."""

from dataclasses import replace

from identity.factors.levels import Level
from identity.factors.needed import Demands
from identity.factors.policy import Policy, Prompt
from identity.organizations import memberships
from identity.users.models import User
from interaction.journeys.pending import Pending
from oidc.provider import target_demands

# The word of an API's demand, which is a value of ``acr``.
_ACR = "acr"


def add(demands: Demands, user: User, policy: Policy, level: int, pending: Pending | None) -> Demands:
    """Return the demands with those of the user's organizations and of the target of a pending request.

    It reads nothing for a tenant without second factors, nor for a sign-in that no demand can change.
    """
    if not policy.is_on or level >= Level.HARDWARE:
        return demands
    return _add_api(_add_organizations(demands, user, policy, level, pending), pending)


def is_factor_required(user: User, policy: Policy) -> bool:
    """Return whether a policy demands a second factor of a user: the tenant's, or for an organization."""
    return policy.prompt is Prompt.MANDATORY or _is_in_strict_organization(user, policy)


def _add_organizations(
    demands: Demands, user: User, policy: Policy, level: int, pending: Pending | None
) -> Demands:
    if level >= Level.TWO:
        return demands
    named = pending.authorization.organization_id if pending else ""
    membership = memberships.find_membership(user.pk, named) if named else None
    return replace(
        demands,
        in_strict_organization=_is_in_strict_organization(user, policy),
        for_strict_organization=membership is not None and membership.organization.is_mfa_required,
    )


def _add_api(demands: Demands, pending: Pending | None) -> Demands:
    level = target_demands.get_resource_level(pending.authorization.resource) if pending else Level.ONE
    if level <= Level.ONE:
        return demands
    strictest = max(level, demands.essential.get(_ACR, Level.ONE))
    return replace(demands, essential=demands.essential | {_ACR: strictest})


def _is_in_strict_organization(user: User, policy: Policy) -> bool:
    is_asked = policy.is_on and policy.organization_prompt is Prompt.MANDATORY
    return is_asked and memberships.is_in_strict_organization(user.pk)
