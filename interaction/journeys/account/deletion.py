"""Deleting one's own account, for good."""

from django.db import transaction

from identity.core.errors import Invalid, ServiceError
from identity.sessions.models import Session
from identity.users import identifiers
from identity.users import services as users
from identity.users.models import User
from interaction.experience import services as experience
from interaction.journeys.account import confirmation


class DeletionIsOff(ServiceError):
    """The tenant does not let people delete their account."""

    status = 403
    reason = "deletion_off"
    message = "people cannot delete their account here"


class NotConfirmed(Invalid):
    """What was typed is not what the page asked for."""

    reason = "not_confirmed"

    def __init__(self) -> None:
        super().__init__("typed", "must be what the page asks for")


def phrase_for(user: User) -> str:
    """Return what the person has to type."""
    return user.identifier or "delete"


def check_allowed() -> None:
    """Refuse unless the tenant lets people delete their account.

    Raises:
        DeletionIsOff: it does not.

    """
    if not experience.current().account["deletion"]:
        raise DeletionIsOff


def delete(session: Session, *, password: str, typed: str) -> None:
    """Delete the person with sessions, tokens, consents and memberships; the audit log alone stays.

    ``typed`` has to be what ``phrase_for`` says, as a sign that they know what they do.

    Raises:
        DeletionIsOff: the tenant does not allow it.
        NotConfirmed: something else was typed.
        credentials.InvalidCredentials: the password is wrong.
        confirmation.SignInAgain: there is none and the sign-in is too old, or the session ended meanwhile.

    """
    check_allowed()
    user = session.user
    if identifiers.fold(typed.strip()) != identifiers.fold(phrase_for(user)):
        raise NotConfirmed
    confirmation.confirm(session, password)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(pk=user.pk).exists()
        confirmation.check_still_signed_in(session)
        users.remove(user)
