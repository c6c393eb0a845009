"""What the sources of claims are read from: the user and the organization of a token."""

from collections.abc import Collection
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import orjson

from identity.users.models import User
from oidc.provider import affiliations
from oidc.provider.affiliations import Affiliations, MemberOrganization
from oidc.provider.scopes import GROUPS, ROLES

_MOST_ENTRIES: Final = 200
_MOST_BYTES: Final = 6144  # of both lists, as JSON: our endpoints must be able to read the token


class ClaimFacts:
    """The user of a token, or None, and the id of its organization. Roles are read when first needed.

    ``omitted`` collects the names of custom claims that were too large.
    """

    def __init__(self, user: User | None, organization_id: UUID | None) -> None:
        self.user = user
        self.organization_id = organization_id
        self.omitted: list[str] = []

    @cached_property
    def affiliations(self) -> Affiliations:
        """The roles and organizations of the user, read in one query."""
        if self.user is None:
            return Affiliations(is_for_organization=self.organization_id is not None)
        return affiliations.read(self.user.pk, self.organization_id)

    @property
    def organization(self) -> MemberOrganization | None:
        """The organization of the token, unless the user has left it."""
        return None if self.organization_id is None else self.affiliations.current

    def get_role_claims(self, names: Collection[str]) -> dict[str, Any]:
        """Return the claims ``roles`` and ``groups`` if they are among the names.

        A list with more than 200 entries is left out, and so is a list that brings both to more than 6 KiB.
        The claim ``roles_truncated`` or ``groups_truncated`` says so, because a shortened list would look
        complete.
        """
        claims: dict[str, Any] = {}
        if self.user is None:
            return claims
        total = 0
        for name in (ROLES, GROUPS):
            if name not in names:
                continue
            listed: list[str] = getattr(self.affiliations, name)
            size = len(orjson.dumps(listed))
            if len(listed) > _MOST_ENTRIES or total + size > _MOST_BYTES:
                claims[f"{name}_truncated"] = True
                continue
            total += size
            claims[name] = listed
        return claims
