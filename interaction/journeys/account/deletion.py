"""Permanent deletion of the user's own account."""

from django.db import transaction

from identity.core.errors import Invalid, ServiceError
from identity.sessions.models import Session
from identity.users import identifiers, row_locks
from identity.users import services as users
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import reauthentication


class DeletionIsOff(ServiceError):
    """The tenant does not let users delete their account."""

    status = 403
    reason = "deletion_off"
    message = "deleting accounts is disabled"


class NotConfirmed(Invalid):
    """The entered text is not the phrase that the page asked for."""

    reason = "not_confirmed"

    def __init__(self) -> None:
        super().__init__("typed", "must be the phrase on the page")


def confirmation_phrase(user: User) -> str:
    """Return the phrase that the user has to type."""
    return user.identifier or "delete"


def check_allowed(experience: SignInExperience) -> None:
    """Check that the tenant lets users delete their account.

    Raises:
        DeletionIsOff: it does not.

    """
    if not experience.account["deletion"]:
        raise DeletionIsOff


def delete(session: Session, experience: SignInExperience, *, password: str, typed: str) -> None:
    """Delete the user with sessions, tokens, consents and memberships. Only the audit log stays.

    ``typed`` has to be the ``confirmation_phrase``, so that nobody deletes an account by mistake.

    Raises:
        DeletionIsOff: the tenant does not allow it.
        NotConfirmed: ``typed`` is not the phrase.
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.SignInAgain: a sign-in is required, or the session ended meanwhile.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        passwords.Busy: too many passwords are being hashed.
        limits.TooMany: too many sign-ins from this network.

    """
    check_allowed(experience)
    user = session.user
    if identifiers.fold(typed.strip()) != identifiers.fold(confirmation_phrase(user)):
        raise NotConfirmed
    reauthentication.reauthenticate(session, password)
    with transaction.atomic():
        row_locks.lock(user)
        reauthentication.check_still_signed_in(session)
        users.remove(user)
