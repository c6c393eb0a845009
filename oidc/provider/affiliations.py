"""The system roles of a user, and the user's organizations with the roles there, in one query."""

import json
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db.models import F, QuerySet, TextField, UUIDField, Value
from django.db.models.functions import Cast, Coalesce

from database.together import Work
from identity.core.tenant_statements import SelectValues, uuid
from identity.organizations.models import Membership
from identity.roles.models import UserRole
from oidc.settings.models import OidcSettings

_SYSTEM, _MEMBER, _TOKEN, _SETTING = "system", "member", "token", "setting"


@dataclass(slots=True)
class MemberOrganization:
    """An organization of a user, with the names of the user's roles in it."""

    id: UUID
    name: str
    roles: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Affiliations:
    """A user's system roles and organizations, for a token.

    If ``is_for_organization``, the token is for an organization. That is ``current``, or None if the user has
    left it.
    """

    is_for_organization: bool
    system_roles: list[str] = field(default_factory=list)
    organizations: dict[UUID, MemberOrganization] = field(default_factory=dict)
    current: MemberOrganization | None = None
    groups_claim: str = OidcSettings.GroupsClaim.ROLES

    @property
    def roles(self) -> list[str]:
        """The names of the system roles or, in a token for an organization, of the roles there."""
        if not self.is_for_organization:
            return sorted(self.system_roles)
        return sorted(self.current.roles) if self.current else []

    @property
    def groups(self) -> list[str]:
        """The claim ``groups``: roles or organizations, as ``OidcSettings.groups_claim`` says."""
        organizations = self.organizations.values()
        match self.groups_claim:
            case OidcSettings.GroupsClaim.ORGANIZATIONS:
                return sorted({organization.name for organization in organizations})
            case OidcSettings.GroupsClaim.ORGANIZATION_ROLES:
                return sorted({f"{each.name}:{role}" for each in organizations for role in each.roles})
            case _:
                return self.roles

    @property
    def organization_roles(self) -> list[str]:
        """The roles in all organizations, each as ``organization id:role``."""
        return [f"{each.id}:{role}" for each in self.organizations.values() for role in sorted(each.roles)]


def read(user_id: UUID, organization_id: UUID | None) -> Work[Affiliations]:
    """Return the affiliations of a user, in one query. ``organization_id`` is that of the token."""
    found = Affiliations(is_for_organization=organization_id is not None)
    query = _OF_USER if organization_id is None else _OF_MEMBER
    rows = yield from query.find_all(user_id=user_id, organization_id=organization_id)
    for kind, pk, name, role, metadata in rows:
        if kind == _SYSTEM:
            found.system_roles.append(role)
        elif kind == _SETTING:
            found.groups_claim = name
        else:
            organization = found.organizations.setdefault(pk, MemberOrganization(pk, name))
            if role:
                organization.roles.append(role)
            if kind == _TOKEN:
                organization.metadata = json.loads(metadata)
                found.current = organization
    return found


def _build_query(*, is_for_organization: bool) -> QuerySet[Any, Any]:
    memberships = Membership.objects.filter(user=uuid("user_id"))
    of_member = _build_rows(
        memberships,
        _MEMBER,
        F("organization_id"),
        F("organization__name"),
        Coalesce(F("role_links__role__name"), Value("")),
    )
    parts = [
        _build_rows(OidcSettings.objects.all(), _SETTING, name=F("groups_claim")),
        _build_rows(UserRole.objects.filter(user=uuid("user_id")), _SYSTEM, role=F("role__name")),
    ]
    if is_for_organization:
        current = memberships.filter(organization=uuid("organization_id"))
        metadata = Cast("organization__metadata", TextField())
        parts.append(
            _build_rows(current, _TOKEN, F("organization_id"), F("organization__name"), metadata=metadata)
        )
    return of_member.union(*parts, all=True)


def _build_rows(  # noqa: PLR0913, PLR0917 - one parameter a column
    rows: QuerySet[Any],
    kind: str,
    pk: Any = None,
    name: Any = None,
    role: Any = None,
    metadata: Any = None,
) -> QuerySet[Any, Any]:
    empty = Value("", output_field=TextField())
    built: QuerySet[Any, Any] = (
        rows.order_by()
        .annotate(
            row_kind=Value(kind, output_field=TextField()),
            row_pk=Cast(Value(None), UUIDField()) if pk is None else pk,
            row_name=Cast(empty if name is None else name, TextField()),
            row_role=Cast(empty if role is None else role, TextField()),
            row_metadata=empty if metadata is None else metadata,
        )
        .values_list("row_kind", "row_pk", "row_name", "row_role", "row_metadata")
    )
    return built


_OF_USER: Final = SelectValues(lambda: _build_query(is_for_organization=False))
_OF_MEMBER: Final = SelectValues(lambda: _build_query(is_for_organization=True))
