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
    said: dict[str, Any] = {}
    user = principal.user.pk
    if s.ORGANIZATIONS in principal.scopes:
        said["organizations"] = [str(pk) for pk in memberships.organizations_of(user)]
    if s.ORGANIZATION_ROLES in principal.scopes:
        said["organization_roles"] = [f"{pk}:{name}" for pk, name in memberships.roles_of(user)]
    organization = principal.claims.get("organization_id")
    membership = memberships.membership_of(user, str(organization)) if organization else None
    if membership is not None:
        said["organization_id"] = str(membership.organization_id)
        said["organization_is_admin"] = membership.is_admin
    return said
