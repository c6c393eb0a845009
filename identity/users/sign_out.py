"""Signing a user out everywhere."""

from django.db.models import F

from audit.events import Event
from identity.core import records
from identity.users.models import User


def sign_out(user: User, *, expected: frozenset[int] | None = None) -> None:
    """End all sessions, codes and refresh tokens of a user, and forget the browsers that know the user.

    Each of them stores the user's epoch, which is incremented. The user can sign in again.

    Raises:
        records.Stale: the user was changed since the caller read it.

    """
    records.change(
        user, {"epoch": F("epoch") + 1}, event=Event.USER_SIGN_OUT, expected=expected, changed_fields=[]
    )
