"""The claims of userinfo (OpenID Connect Core 5.3)."""

from typing import Any

from database import ids
from database.batching import Work
from oidc.provider import claims, custom_claims, released_claims, scopes, tokens
from oidc.provider.bearer import Principal
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.errors import InsufficientScope
from oidc.provider.grant_context import get_consented


def build(principal: Principal) -> Work[dict[str, Any]]:
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
    released = yield from released_claims.get_for_userinfo(
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
