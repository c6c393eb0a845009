"""What the UserInfo endpoint says of a user's organizations, as of now."""

from typing import Any

from identity.organizations import grants as memberships
from oidc.provider import scopes as s
from oidc.provider.bearer import Principal


def for_userinfo(principal: Principal) -> dict[str, Any]:
    """Return the claims that scopes and the token's organization release.

    Role names come from role templates and say nothing about being an administrator; that
    is ``organization_is_admin``. An organization that the user left is not mentioned.
    """
    here = principal.claims.get("organization_id")
    if here is None and not {s.ORGANIZATIONS, s.ORGANIZATION_ROLES} & set(principal.scopes):
        return {}
    said: dict[str, Any] = {}
    joined = memberships.joined(principal.user.pk)
    if s.ORGANIZATIONS in principal.scopes:
        said["organizations"] = [str(one.organization_id) for one in joined]
    if s.ORGANIZATION_ROLES in principal.scopes:
        said["organization_roles"] = [f"{one.organization_id}:{name}" for one in joined for name in one.roles]
    for one in joined:
        if str(one.organization_id) == here:
            said |= {"organization_id": here, "organization_is_admin": one.is_admin}
    return said
