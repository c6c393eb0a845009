"""How strong a sign-in an authorization request demands or wishes for."""

from collections.abc import Sequence
from typing import Final

from identity.factors.levels import Level
from identity.factors.needed import Demands
from identity.sessions.models import Session
from oidc.grants.models import AuthorizationRequest
from oidc.provider import acr, target_demands
from oidc.provider.authorization.request import Authorization
from oidc.settings import acr_levels

_NONE: Final = Demands()


def find(authorization: Authorization) -> Demands:
    """Return the demands and wishes of a request, by their reasons.

    A request without any value of ``acr`` has none, and nothing is read. A demanded value that is no longer
    known counts as the highest level.
    """
    required, essential = authorization.application.required_acr, authorization.essential_acr_values
    if not authorization.acr_values:
        return _NONE
    demanded = {}
    if essential:
        demanded["acr"] = _find_least(essential)
    if required:
        demanded["application"] = _find_least([required])
    wish = acr.find_least(authorization.wished_acr_values)
    return Demands(essential=demanded, wished={} if wish is None else {"acr": wish})


def must_step_up(
    authorization: Authorization, session: Session, pending: AuthorizationRequest | None
) -> bool:
    """Return whether to ask the user for a further factor, which a request demands or wishes for.

    A wish is asked once for each request. Wishes that nobody in the tenant can fulfil are ignored.
    """
    if session.highest_level <= Level.ONE:
        return False
    demands = find(authorization)
    if any(level > session.level for level in demands.essential.values()):
        return True
    if is_answered(pending):
        return False
    return any(session.level < level <= session.highest_level for level in demands.wished.values())


def is_answered(pending: AuthorizationRequest | None) -> bool:
    """Return whether the user has signed in for a request, or continues without a further factor."""
    return pending is not None and bool(pending.signed_in_at or pending.wish_declined_at)


def is_target_met(authorization: Authorization, session: Session) -> bool:
    """Return whether the sign-in satisfies the API and the organization that the request names."""
    return target_demands.are_met(
        session, resource=authorization.resource, organization_id=authorization.organization_id
    )


def _find_least(values: Sequence[str]) -> int:
    return min(acr.find_least(values) or acr_levels.UNREACHABLE, Level.HARDWARE)
