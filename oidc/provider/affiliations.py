"""The system roles of a user, and the user's organizations with the roles there, in one query."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.db.models import DateTimeField, F, QuerySet, TextField, UUIDField, Value
from django.db.models.functions import Cast, Coalesce

from database.batching import Work
from identity.core.tenant_statements import SelectValues, uuid
from identity.organizations.models import Membership
from identity.roles.models import UserRole
from oidc.settings.models import OidcSettings

_SYSTEM, _MEMBER, _TOKEN, _SETTING = "system", "member", "token", "setting"


@dataclass
class MemberOrganization:
    """An organization of a user, with the names of the user's roles in it.

    ``metadata_json`` is read only of the organization of the token.
    """

    id: UUID
    name: str
    is_admin: bool
    joined_at: datetime
    roles: list[str] = field(default_factory=list)
    metadata_json: str = "{}"

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the organization."""
        metadata: dict[str, Any] = json.loads(self.metadata_json)
        return metadata


@dataclass(slots=True)
class Affiliations:
    """A user's system roles, and organizations from the oldest membership to the newest, for a token.

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
    for kind, pk, name, role, metadata, is_admin, joined_at in rows:
        if kind == _SYSTEM:
            found.system_roles.append(role)
        elif kind == _SETTING:
            found.groups_claim = name
        else:
            organization = found.organizations.get(pk)
            if organization is None:
                organization = MemberOrganization(pk, name, is_admin, joined_at)
                found.organizations[pk] = organization
            if role:
                organization.roles.append(role)
            if kind == _TOKEN:
                organization.metadata_json = metadata
                found.current = organization
    if len(found.organizations) > 1:
        by_age = sorted(found.organizations.values(), key=lambda each: (each.joined_at, each.id))
        found.organizations = {each.id: each for each in by_age}
    return found


def _build_query(*, is_for_organization: bool) -> QuerySet[Any, Any]:
    memberships = Membership.objects.filter(user=uuid("user_id"))
    role = Coalesce(F("role_links__role__name"), Value(""))
    parts = [
        _build_rows(OidcSettings.objects.all(), _SETTING, name=F("groups_claim")),
        _build_rows(UserRole.objects.filter(user=uuid("user_id")), _SYSTEM, role=F("role__name")),
    ]
    if is_for_organization:
        current = memberships.filter(organization=uuid("organization_id"))
        metadata = Cast("organization__metadata", TextField())
        parts.append(_build_rows(current, _TOKEN, **_OF_MEMBERSHIP, metadata=metadata))
    return _build_rows(memberships, _MEMBER, **_OF_MEMBERSHIP, role=role).union(*parts, all=True)


def _build_rows(rows: QuerySet[Any], kind: str, **columns: Any) -> QuerySet[Any, Any]:
    """Return rows with all columns, of which those that are not named are empty."""
    empty = Value("", output_field=TextField())
    built: QuerySet[Any, Any] = (
        rows.order_by()
        .annotate(
            row_kind=Value(kind, output_field=TextField()),
            row_pk=columns.get("pk", Cast(Value(None), UUIDField())),
            row_name=Cast(columns.get("name", empty), TextField()),
            row_role=Cast(columns.get("role", empty), TextField()),
            row_metadata=columns.get("metadata", empty),
            row_is_admin=columns.get("is_admin", Value(value=False)),
            row_joined_at=columns.get("joined_at", Cast(Value(None), DateTimeField())),
        )
        .values_list(
            *("row_kind", "row_pk", "row_name", "row_role", "row_metadata", "row_is_admin", "row_joined_at")
        )
    )
    return built


_OF_MEMBERSHIP: Final = {
    "pk": F("organization_id"),
    "name": F("organization__name"),
    "is_admin": F("is_admin"),
    "joined_at": F("created_at"),
}
_OF_USER: Final = SelectValues(lambda: _build_query(is_for_organization=False))
_OF_MEMBER: Final = SelectValues(lambda: _build_query(is_for_organization=True))
