"""What is done to organizations and their members."""

from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef

from audit import log
from audit.events import Event
from database import ids
from database.id_lists import among
from identity.core import assignments, records
from identity.core.assignments import Assignment
from identity.core.errors import Invalid, ServiceError
from identity.core.records import UnknownIds
from identity.organizations.models import (
    MemberRole,
    Membership,
    Organization,
    OrganizationRole,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.users.identifiers import Kind
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
    allowed={"type": OrganizationRole.Type.USER},
)


class AlreadyMember(Invalid):
    """Somebody is in the organization already; nobody was added."""

    reason = "already_member"

    def __init__(self, ids: list[str]) -> None:
        super().__init__("user_ids", f"already in the organization: {', '.join(ids[:20])}")


class NoSuchOrganization(ServiceError):
    """The organization is unknown in this tenant."""

    status = 404
    reason = "organization_not_found"
    message = "organization not found"


class NoSuchMember(ServiceError):
    """The user is no member of the organization."""

    status = 404
    reason = "member_not_found"
    message = "organization member not found"


class MemberIsAdmin(ServiceError):
    """An administrator of the organization is not removed by a third party."""

    status = 403
    reason = "member_is_admin"
    message = "an administrator of the organization cannot be removed by a third-party application"


def membership(organization_id: str | UUID, user_id: str | UUID) -> Membership:
    """Return the membership of a user.

    Raises:
        NoSuchMember: there is none, or an id is no id.

    """
    organization, user = ids.parse(str(organization_id)), ids.parse(str(user_id))
    found = None
    if organization and user:
        found = Membership.objects.filter(organization=organization, user=user).first()
    if found is None:
        raise NoSuchMember
    return found


@transaction.atomic
def add_members(organization_id: UUID, given: list[str]) -> None:
    """Add users to an organization: all of them or, when one cannot be added, none.

    Raises:
        NoSuchOrganization: it is unknown.
        UnknownIds: an id is no user of this tenant.
        AlreadyMember: somebody is a member already.

    """
    if not records.touch(Organization, organization_id, None):
        raise NoSuchOrganization
    parsed = {text: ids.parse(text) for text in dict.fromkeys(given)}
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
    log.record(
        Event.ORGANIZATION_MEMBER_CREATE,
        id=organization_id,
        count=len(found),
        user_ids=[str(pk) for pk in list(found)[:100]],
    )


@transaction.atomic
def remove_member(
    member: Membership, *, spare_admins: bool = False, expected: frozenset[int] | None = None
) -> None:
    """Take a user out of an organization, with the roles held there. The user stays.

    Raises:
        MemberIsAdmin: ``spare_admins`` was asked for, and the member is one.
        NoSuchMember: somebody else was faster.
        records.Stale: the membership was changed since the caller read it.

    """
    records.touch(Organization, member.organization_id, None)
    current = Membership.objects.select_for_update().filter(pk=member.pk).first()
    if current is None:
        raise NoSuchMember
    if expected is not None and current.version not in expected:
        raise records.Stale
    if spare_admins and current.is_admin:
        raise MemberIsAdmin
    log.record(Event.ORGANIZATION_MEMBER_DELETE, id=member.organization_id, user_ids=[str(member.user_id)])
    current.delete()


def end_resting_on(user: User, kind: Kind) -> None:
    """Take a user whose account lost an identifier out of the organizations that meant it alone."""
    if kind is not Kind.PHONE or user.self_registered:
        return  # whom the members API finds by a phone that is not proven did not register
    members = Membership.objects.filter(user=user, rests_on_phone=True)
    for member in members:
        log.record(
            Event.ORGANIZATION_MEMBER_DELETE,
            id=member.organization_id,
            user_ids=[str(user.pk)],
            reason="phone_lost",
        )
    members.delete()


def change_member(member: Membership, *, is_admin: bool, expected: frozenset[int] | None) -> None:
    """Make a member an administrator of the organization, or no longer."""
    records.change(
        member,
        {"is_admin": is_admin},
        event=Event.ORGANIZATION_MEMBER_UPDATE,
        expected=expected,
        **_membership_facts(member),
    )


def _membership_facts(member: Membership) -> dict[str, Any]:
    """Return what entries say of a membership, whose own id nothing resolves once it is gone."""
    return {"organization_id": str(member.organization_id), "user_ids": [str(member.user_id)]}


def set_member_roles(
    member: Membership,
    given: list[str],
    *,
    assignment: Assignment = MEMBER_ROLES,
    expected: frozenset[int] | None = None,
) -> None:
    """Replace the roles of a member in this organization, and in no other.

    Raises:
        UnknownIds: an id is no role template for users.
        NoSuchMember: the member was removed meanwhile.
        records.Stale: the membership was changed since the caller read it.

    """
    if not assignments.replace(assignment, member.pk, given, expected=expected, **_membership_facts(member)):
        raise NoSuchMember


def remove(organization: Organization, *, expected: frozenset[int] | None) -> None:
    """Delete an organization with its memberships and the roles held in it."""
    records.remove(organization, event=Event.ORGANIZATION_DELETE, expected=expected, name=organization.name)
