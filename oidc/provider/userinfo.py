"""The claims of userinfo (OpenID Connect Core 5.3)."""

from typing import Any

from database import ids
from oidc.provider import claims, custom_claims, released_claims, scopes, tokens
from oidc.provider.bearer import Principal
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.errors import InsufficientScope


def build(principal: Principal) -> dict[str, Any]:
    """Return the claims about the user that an access token releases.

    Raises:
        InsufficientScope: the token lacks the scope ``openid``.

    """
    if scopes.OPENID not in principal.scopes:
        raise InsufficientScope(scopes.OPENID)
    facts = ClaimFacts(principal.user, ids.parse(str(principal.claims.get("organization_id"))))
    told = released_claims.get_for_userinfo(
        facts,
        claims.get_names(principal.scopes) | tokens.get_requested_claims(principal.claims),
        custom=principal.custom_claims,
        consented_scopes=principal.scopes if principal.is_third_party else None,
    )
    custom_claims.record_omissions(principal.application_id, facts.omitted)
    return told
