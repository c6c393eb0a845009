"""The claims about a user's organizations, from the current memberships (see ``affiliations``)."""

from collections.abc import Collection
from typing import Any, Final

from database.batching import Work
from oidc.provider import long_lists
from oidc.provider.affiliations import Affiliations
from oidc.provider.claim_facts import ClaimFacts

_NAMES: Final = {"organizations", "organization_roles"}


def get_userinfo_claims(facts: ClaimFacts, names: Collection[str]) -> Work[dict[str, Any]]:
    """Return the organization claims among ``names``, and those about the organization of the token.

    ``organization_is_admin`` says whether the user is an administrator; the names of roles do not. An
    organization that the user has left is omitted.
    """
    if facts.organization_id is None and _NAMES.isdisjoint(names):
        return {}
    found = yield from facts.get_affiliations()
    claims: dict[str, Any] = {**_build_claims(found, names)}
    if found.current is not None:
        claims["organization_id"] = str(found.current.id)
        claims["organization_is_admin"] = found.current.is_admin
    return claims


def get_claims(facts: ClaimFacts, names: Collection[str]) -> Work[dict[str, Any]]:
    """Return the organization claims among ``names``, for a token (see ``long_lists``)."""
    if _NAMES.isdisjoint(names):
        return {}
    return long_lists.build_claims(_build_claims((yield from facts.get_affiliations()), names))


def _build_claims(found: Affiliations, names: Collection[str]) -> dict[str, list[str]]:
    claims = {
        "organizations": [str(pk) for pk in found.organizations],
        "organization_roles": found.organization_roles,
    }
    return {name: value for name, value in claims.items() if name in names}
