"""The claims about a user's organizations, read from the current memberships."""

from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

from database.together import Work
from identity.organizations import memberships
from identity.organizations.memberships import UserOrganization
from oidc.provider import long_lists

_NAMES: Final = {"organizations", "organization_roles"}


def get_userinfo_claims(
    user_id: UUID, names: Collection[str], *, token_organization: object
) -> Work[dict[str, Any]]:
    """Return the organization claims among ``names``, and those about the organization of the token.

    ``organization_is_admin`` says whether the user is an administrator; the names of roles do not. An
    organization that the user has left is omitted.
    """
    if token_organization is None and _NAMES.isdisjoint(names):
        return {}
    joined = yield from memberships.get_organizations(user_id)
    claims: dict[str, Any] = {**_build_claims(joined, names)}
    for organization in joined:
        if str(organization.organization_id) == token_organization:
            claims["organization_id"] = token_organization
            claims["organization_is_admin"] = organization.is_admin
    return claims


def get_claims(user_id: UUID, names: Collection[str]) -> Work[dict[str, Any]]:
    """Return the organization claims among ``names``, for a token (see ``long_lists``)."""
    if _NAMES.isdisjoint(names):
        return {}
    joined = yield from memberships.get_organizations(user_id)
    return long_lists.build_claims(_build_claims(joined, names))


def _build_claims(joined: list[UserOrganization], names: Collection[str]) -> dict[str, list[str]]:
    claims = {
        "organizations": [str(row.organization_id) for row in joined],
        "organization_roles": [f"{row.organization_id}:{name}" for row in joined for name in row.roles],
    }
    return {name: value for name, value in claims.items() if name in names}
