"""Confirmation of the user's identity before a sensitive change."""

from datetime import timedelta
from typing import Final

from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.users import credentials, sign_in_locks
from interaction.journeys.locks import Locked

RECENT: Final = timedelta(minutes=5)


class SignInAgain(ServiceError):
    """A user without a password signed in too long ago, or the session has ended."""

    status = 403
    reason = "sign_in_again"
    message = "sign in again, and come back within five minutes"


def must_sign_in_again(session: Session) -> bool:
    """Return whether a user without a password has to sign in again before a sensitive change."""
    return not session.user.password and timezone.now() - session.auth_time > RECENT


def check_still_signed_in(session: Session) -> None:
    """Check that a session has not ended meanwhile.

    Call it in the transaction that changes the user, with the user's row locked: then a recovery, a new
    password or a sign-out either waits for the change or is seen here.

    Raises:
        SignInAgain: the session has ended.

    """
    if not Session.objects.live().filter(pk=session.pk).exists():
        raise SignInAgain


def confirm(session: Session, password: str) -> None:
    """Check the password or, if the user has none, that the sign-in is at most five minutes ago.

    Wrong passwords lock the confirmation as at sign-in, against guessing in an unattended browser.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        SignInAgain: the user has no password, and the sign-in is too old.
        passwords.Busy: too many passwords are being hashed. Call it outside of transactions.

    """
    with log.attempt(Event.PASSWORD_VERIFY, session_id=str(session.pk)) as entry:
        entry.user_id = session.user_id
        if session.user.password:
            with limits.login_attempt(
                (rules.PAIR, f"confirm {session.user_id} {limits.client_network()}"),
                (rules.IDENTIFIER, f"confirm {session.user_id}"),
                failure=credentials.InvalidCredentials,
                locked=Locked,
                group=sign_in_locks.get_confirmation_group(session.user_id),
            ):
                credentials.check_password(session.user, password)
        elif must_sign_in_again(session):
            raise SignInAgain
        else:
            entry.facts["method"] = "recent_sign_in"
