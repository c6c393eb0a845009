"""Making sure that it is still the person, before something that a thief would like to do."""

from datetime import timedelta
from typing import Final

from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.users import credentials
from interaction.journeys.sign_in import Locked

RECENT: Final = timedelta(minutes=5)


class SignInAgain(ServiceError):
    """Somebody without a password signed in too long ago."""

    status = 403
    reason = "sign_in_again"
    message = "sign in again, and come back within five minutes"


def is_missing(session: Session) -> bool:
    """Tell whether a person without a password has to sign in again before they go on."""
    return not session.user.password and timezone.now() - session.auth_time > RECENT


def check_still_signed_in(session: Session) -> None:
    """Make sure that a session did not end while something was asked for in it.

    Ask in the transaction that changes the user, once the row is held: then a recovery, a new
    password and a sign-out either wait for the change or are seen here.

    Raises:
        SignInAgain: it ended.

    """
    if not Session.objects.live().filter(pk=session.pk).exists():
        raise SignInAgain


def confirm(session: Session, password: str) -> None:
    """Ask for the password or, of people who have none, for a sign-in of the last five minutes.

    Whoever found a browser open may not guess at leisure: wrong ones lock, as at sign-in.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many were wrong before.
        SignInAgain: there is none, and the sign-in is older.
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
            ):
                credentials.confirm(session.user, password)
        elif is_missing(session):
            raise SignInAgain
        else:
            entry.facts["method"] = "recent_sign_in"
