"""Creating, changing and deleting organizations, their members and the roles of members."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from database.list_parameters import among
from identity.core import assignments, branding, proof, records
from identity.core.assignments import Assignment
from identity.core.errors import Invalid, ServiceError
from identity.core.records import UnknownIds
from identity.core.refusal_texts import fill
from identity.organizations.models import (
    MemberRole,
    Membership,
    Organization,
    OrganizationRole,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.users.models import User

PERMISSIONS: Final = Assignment(
    OrganizationRolePermission, "role", "permission", "scope_ids", Event.ORGANIZATION_ROLE_UPDATE
)
RESOURCE_SCOPES: Final = Assignment(
    OrganizationRoleScope, "role", "scope", "scope_ids", Event.ORGANIZATION_ROLE_UPDATE
)
MEMBER_ROLES: Final = Assignment(
    MemberRole,
    "membership",
    "role",
    "organization_role_ids",
    Event.ORGANIZATION_MEMBER_UPDATE,
    item_filter={"type": OrganizationRole.Type.USER},
)


class AlreadyMember(Invalid):
    """Some of the users are already members. No user was added."""

    reason = "already_member"

    def __init__(self, ids: list[str]) -> None:
        rule = fill(gettext_noop("already in the organization: %(ids)s"), ids=ids[:20])
        super().__init__("user_ids", rule)


class NoSuchOrganization(ServiceError):
    """The organization is unknown in this tenant."""

    status = 404
    reason = "organization_not_found"
    message = gettext_noop("organization not found")


class NoSuchMember(ServiceError):
    """The user is not a member of the organization."""

    status = 404
    reason = "member_not_found"
    message = gettext_noop("organization member not found")


class MemberIsAdmin(ServiceError):
    """A third-party application may not remove an administrator of the organization."""

    status = 403
    reason = "member_is_admin"
    message = gettext_noop(
        "an administrator of the organization cannot be removed by a third-party application"
    )


@transaction.atomic
def create(fields: Mapping[str, Any]) -> Organization:
    """Create an organization and return it."""
    organization = Organization(**fields)
    organization.branding = branding.store(organization, fields.get("branding", {}))
    records.create(organization, event=Event.ORGANIZATION_CREATE, name=organization.name)
    return organization


@transaction.atomic
def change(
    organization: Organization,
    fields: Mapping[str, Any],
    *,
    expected: frozenset[int] | None = None,
    is_proven: bool,
) -> None:
    """Change an organization. Members of the branding that are not sent stay as they are.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        proof.TokenTooOld: two factors would no longer be required, and ``is_proven`` is false.
        records.Stale: the organization was changed since the caller read it.
        records.Gone: the organization was deleted.

    """
    proof.check_required_of_sign_ins(organization, "is_mfa_required", fields, expected, is_proven=is_proven)
    fields = branding.change(organization, fields, expected)
    records.change(organization, fields, event=Event.ORGANIZATION_UPDATE, expected=expected)


def get_membership(organization_id: str | UUID, user_id: str | UUID) -> Membership:
    """Return the membership of a user.

    Raises:
        NoSuchMember: the user is not a member, or an id is malformed.

    """
    organization, user = ids.parse(str(organization_id)), ids.parse(str(user_id))
    found = None
    if organization and user:
        found = Membership.objects.filter(organization=organization, user=user).first()
    if found is None:
        raise NoSuchMember
    return found


@transaction.atomic
def add_members(organization_id: UUID, user_ids: list[str]) -> None:
    """Add users to an organization. If one cannot be added, none is.

    Raises:
        NoSuchOrganization: the organization is unknown.
        UnknownIds: no user of this tenant has one of the ids.
        AlreadyMember: one of the users is already a member.

    """
    if not records.increment_version(Organization, organization_id, None):
        raise NoSuchOrganization
    parsed = {text: ids.parse(text) for text in dict.fromkeys(user_ids)}
    memberships = Membership.objects.filter(organization=organization_id, user=OuterRef("pk"))
    found = dict(
        User.objects.filter(among("pk", [pk for pk in parsed.values() if pk]))
        .annotate(is_member=Exists(memberships))
        .values_list("pk", "is_member")
    )
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds("user_ids", unknown)
    if members := [str(pk) for pk, is_member in found.items() if is_member]:
        raise AlreadyMember(members)
    Membership.objects.bulk_create(Membership(organization_id=organization_id, user_id=pk) for pk in found)
    log.record_all(
        Event.ORGANIZATION_MEMBER_CREATE,
        ({"id": organization_id, "count": 1, "user_ids": [str(pk)], "about": pk} for pk in found),
    )


@transaction.atomic
def remove_member(
    member: Membership, *, refuse_admins: bool = False, expected: frozenset[int] | None = None
) -> None:
    """Remove a member and the member's roles from an organization. The user is not deleted.

    Raises:
        MemberIsAdmin: ``refuse_admins`` is true, and the member is an administrator.
        NoSuchMember: the member was removed meanwhile.
        records.Stale: the membership was changed since the caller read it.

    """
    records.increment_version(Organization, member.organization_id, None)
    current = Membership.objects.select_for_update().filter(pk=member.pk).first()
    if current is None:
        raise NoSuchMember
    if expected is not None and current.version not in expected:
        raise records.Stale
    if refuse_admins and current.is_admin:
        raise MemberIsAdmin
    log.record(
        Event.ORGANIZATION_MEMBER_DELETE,
        id=member.organization_id,
        user_ids=[str(member.user_id)],
        about=member.user_id,
    )
    current.delete()


def change_member(member: Membership, *, is_admin: bool, expected: frozenset[int] | None) -> None:
    """Set whether a member is an administrator of the organization."""
    records.change(
        member,
        {"is_admin": is_admin},
        event=Event.ORGANIZATION_MEMBER_UPDATE,
        expected=expected,
        **_membership_facts(member),
    )


def _membership_facts(member: Membership) -> dict[str, Any]:
    """Return the ids of organization and user for an audit entry, because a membership's id is not public."""
    return {
        "organization_id": str(member.organization_id),
        "user_ids": [str(member.user_id)],
        "about": member.user_id,
    }


def set_member_roles(
    member: Membership,
    role_ids: list[str],
    *,
    assignment: Assignment = MEMBER_ROLES,
    expected: frozenset[int] | None = None,
) -> None:
    """Replace the roles of a member in this organization.

    Raises:
        UnknownIds: an id is not that of a role template for users.
        NoSuchMember: the member was removed meanwhile.
        records.Stale: the membership was changed since the caller read it.

    """
    facts = _membership_facts(member)
    # No role of a member needs a proof.
    if not assignments.replace(assignment, member.pk, role_ids, expected=expected, is_proven=False, **facts):
        raise NoSuchMember


def remove(organization: Organization, *, expected: frozenset[int] | None) -> None:
    """Delete an organization with its memberships.

    Raises:
        records.Stale: the organization was changed since the caller read it.
        ServiceError: an app above refuses it: see ``deletion_rules``.

    """
    records.remove(organization, event=Event.ORGANIZATION_DELETE, expected=expected, name=organization.name)
