"""What the sources of claims are read from: the user and the organization of a token."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from database.batching import Work
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
        self._affiliations: Affiliations | None = None

    def get_affiliations(self) -> Work[Affiliations]:
        """Return the roles and organizations of the user, which are read once, in one query."""
        if self._affiliations is None:
            if self.user is None:
                raise ValueError("an application has no affiliations")
            self._affiliations = yield from affiliations.read(self.user.pk, self.organization_id)
        return self._affiliations

    def get_organization(self) -> Work[MemberOrganization | None]:
        """Return the organization of the token, or None if it has none or the user has left it."""
        return None if self.organization_id is None else (yield from self.get_affiliations()).current

    def get_role_claims(self, names: Collection[str]) -> Work[dict[str, Any]]:
        """Return the claims ``roles`` and ``groups`` if they are among the names (see ``long_lists``)."""
        named = [name for name in (ROLES, GROUPS) if name in names]
        if self.user is None or not named:
            return {}
        found = yield from self.get_affiliations()
        return long_lists.build_claims({name: getattr(found, name) for name in named})
