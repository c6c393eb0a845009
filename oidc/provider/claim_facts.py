"""What the sources of claims are read from: the user and the organization of a token."""

from collections.abc import Collection
from functools import cached_property
from typing import Any
from uuid import UUID

from identity.users.models import User
from oidc.provider import affiliations, long_lists
from oidc.provider.affiliations import Affiliations, MemberOrganization
from oidc.provider.scopes import GROUPS, ROLES


class ClaimFacts:
    """The user of a token, or None, and the id of its organization. Roles are read when first needed.

    ``omitted`` collects the names of custom claims that were too large. ``released`` has the claims that were
    built already, by the kind of token.
    """

    def __init__(self, user: User | None, organization_id: UUID | None) -> None:
        self.user = user
        self.organization_id = organization_id
        self.omitted: list[str] = []
        self.released: dict[str, dict[str, Any]] = {}

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
        """Return the claims ``roles`` and ``groups`` if they are among the names (see ``long_lists``)."""
        if self.user is None:
            return {}
        return long_lists.build_claims(
            {name: getattr(self.affiliations, name) for name in (ROLES, GROUPS) if name in names}
        )
