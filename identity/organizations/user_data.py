"""What happens to memberships when an account gets a new owner."""

from typing import Final

from audit import log
from audit.events import Event
from identity.organizations.models import Membership
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.user_data import UserData


def _end_dependent_on(user: User, kind: Kind) -> None:
    """Remove a user who lost an identifier from the organizations that added the user by it."""
    if kind is not Kind.PHONE:
        return
    members = Membership.objects.filter(user=user, rests_on_phone=True)
    for member in members:
        log.record(
            Event.ORGANIZATION_MEMBER_DELETE,
            id=member.organization_id,
            user_ids=[str(user.pk)],
            about=user.pk,
            reason="phone_lost",
        )
    members.delete()


USER_DATA: Final = [
    UserData(
        model="organizations.Membership",
        reason="an administrator, or an application of the organization, made the account a member",
        end_dependent_on=_end_dependent_on,
    ),
]
