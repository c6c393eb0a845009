"""What happens to sessions when an account gets a new owner."""

from typing import Final

from identity.sessions import services
from identity.users.models import User
from identity.users.user_data import UserData


def _end(user: User) -> None:
    services.end_all(user)


USER_DATA: Final = [
    UserData(
        model="identity_sessions.Session",
        reason="sessions from before the change are not the new owner's",
        end=_end,
    ),
]
