"""The latest sign-ins of a user, from the audit log."""

from typing import Final

from audit.events import Event
from audit.models import Entry
from identity.users.models import User
from interaction.journeys.account import own_entries

REGISTRATIONS: Final = (Event.REGISTER_USERNAME, Event.REGISTER_EMAIL, Event.REGISTER_PHONE)
_SIGN_INS: Final = (
    Event.SIGN_IN_PASSWORD,
    Event.SIGN_IN_CODE,
    Event.SIGN_IN_SOCIAL,
    Event.SIGN_IN_PASSKEY,
    *REGISTRATIONS,
)
_MAX_SHOWN: Final = 10


def get_sign_ins(user: User) -> list[Entry]:
    """Return the entries of the user's latest sign-ins, the newest first. A registration signs in, too.

    A failed attempt is among them only if the user was proven, for example if the account was suspended.
    """
    return list(own_entries.find(user).filter(key__in=_SIGN_INS)[:_MAX_SHOWN])
