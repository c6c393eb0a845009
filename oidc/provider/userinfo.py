"""The claims of userinfo (OpenID Connect Core 5.3)."""

from collections.abc import Mapping
from typing import Any, Final

from database import ids
from oidc.provider import claims, custom_claims, released_claims, scopes, tokens
from oidc.provider.bearer import Principal
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.errors import InsufficientScope
from oidc.provider.grant_context import get_consented

_OF_AFFILIATIONS: Final = {scopes.ROLES, scopes.GROUPS, scopes.ORGANIZATIONS, scopes.ORGANIZATION_ROLES}


def needs_affiliations(token_claims: Mapping[str, Any]) -> bool:
    """Return whether an access token releases claims about roles or organizations, which take a query.

    Custom claims may need one, too.
    """
    names = claims.get_names(token_claims["scope"].split()) | tokens.get_requested_claims(token_claims)
    return "organization_id" in token_claims or not names.isdisjoint(_OF_AFFILIATIONS)


def build(principal: Principal) -> dict[str, Any]:
    """Return the claims about the user that an access token releases.

    Raises:
        InsufficientScope: the token lacks the scope ``openid``.

    """
    if scopes.OPENID not in principal.scopes:
        raise InsufficientScope(scopes.OPENID)
    names = claims.get_names(principal.scopes) | tokens.get_requested_claims(principal.claims)
    if principal.agreed_to_old_profile:
        names = claims.without_new_profile(names)
    facts = ClaimFacts(principal.user, ids.parse(str(principal.claims.get("organization_id"))))
    released = released_claims.get_for_userinfo(
        facts,
        names,
        custom=principal.custom_claims,
        consented_scopes=get_consented(
            principal.scopes,
            is_third_party=principal.is_third_party,
            agreed_to_old_profile=principal.agreed_to_old_profile,
        ),
    )
    custom_claims.record_omissions(principal.application_id, facts.omitted)
    return released
