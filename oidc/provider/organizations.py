"""The claims about a user's organizations, as of now."""

from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

from identity.organizations import memberships
from identity.organizations.memberships import UserOrganization

_NAMES: Final = {"organizations", "organization_roles"}


def for_userinfo(user_id: UUID, names: Collection[str], *, here: object) -> dict[str, Any]:
    """Return those of these claims that there are, and what belongs to ``here``, the token's organization.

    Role names come from role templates and say nothing about being an administrator; that
    is ``organization_is_admin``. An organization that the user left is not mentioned.
    """
    if here is None and _NAMES.isdisjoint(names):
        return {}
    joined = memberships.get_organizations(user_id)
    said = _said(joined, names)
    for one in joined:
        if str(one.organization_id) == here:
            said |= {"organization_id": here, "organization_is_admin": one.is_admin}
    return said


def about(user_id: UUID, names: Collection[str]) -> dict[str, Any]:
    """Return those of these claims that there are. One statement, if any of them is meant."""
    return {} if _NAMES.isdisjoint(names) else _said(memberships.get_organizations(user_id), names)


def _said(joined: list[UserOrganization], names: Collection[str]) -> dict[str, Any]:
    said = {
        "organizations": [str(one.organization_id) for one in joined],
        "organization_roles": [f"{one.organization_id}:{name}" for one in joined for name in one.roles],
    }
    return {name: value for name, value in said.items() if name in names}
