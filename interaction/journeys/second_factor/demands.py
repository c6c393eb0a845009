"""What the authorization request, its target and the user's organizations demand of a sign-in."""

from dataclasses import replace

from database import batching
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.needed import AvailableFactors, Demands, Proven, can_reach
from identity.factors.policy import Policy, Prompt
from identity.organizations import memberships
from identity.users.models import User
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor import available_factors
from oidc.provider import target_demands
from oidc.provider.authorization import demands as request_demands

# The reason of a demand for a value of ``acr``, by the request or by the API.
_ACR = "acr"


def find(
    user: User, policy: Policy, available: AvailableFactors, proven: Proven, pending: Pending | None
) -> Demands:
    """Return what the pending request, its target and the user's organizations demand and wish for.

    A demand of the target that the user cannot meet is left out: after the sign-in, the authorization
    endpoint refuses the request. For a tenant without second factors, only the request is read.
    """
    demands = request_demands.find(pending.authorization) if pending else Demands()
    if not policy.is_on or proven.level >= Level.HARDWARE:
        return demands
    if proven.level < Level.TWO:
        is_for_strict = _is_for_strict_organization(user, pending)
        demands = replace(
            demands,
            in_strict_organization=_is_in_strict_organization(user, policy),
            for_strict_organization=is_for_strict and can_reach(policy, available, proven, Level.TWO),
        )
    level = target_demands.get_resource_level(pending.authorization.resource) if pending else Level.ONE
    if level <= Level.ONE or not can_reach(policy, available, proven, level):
        return demands
    strictest = max(level, demands.essential.get(_ACR, Level.ONE))
    return replace(demands, essential=demands.essential | {_ACR: strictest})


def is_factor_required(user: User, policy: Policy) -> bool:
    """Return whether a policy demands a second factor of a user: the tenant's, or for an organization."""
    return policy.prompt is Prompt.MANDATORY or _is_in_strict_organization(user, policy)


def find_asked_for(user: User, policy: Policy) -> list[FactorType]:
    """Return the factors of which each sign-in of a user asks for one; none if two-step sign-in is off."""
    usable = available_factors.find(user, policy).get_usable(policy) if policy.is_on else []
    return usable if usable and (user.two_step or is_factor_required(user, policy)) else []


def _is_for_strict_organization(user: User, pending: Pending | None) -> bool:
    named = pending.authorization.organization_id if pending else ""
    membership = batching.run(memberships.find_membership(user.pk, named)) if named else None
    return membership is not None and membership.organization.is_mfa_required


def _is_in_strict_organization(user: User, policy: Policy) -> bool:
    is_asked = policy.is_on and policy.organization_prompt is Prompt.MANDATORY
    return is_asked and memberships.is_in_strict_organization(user.pk)
