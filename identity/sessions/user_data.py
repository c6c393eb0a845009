"""What a change of owner does to sessions."""

from typing import Final

from identity.sessions import services
from identity.users.models import User
from identity.users.user_data import UserData


def _end(user: User) -> None:
    services.end_all(user)


USER_DATA: Final = [
    UserData(
        model="identity_sessions.Session",
        reason="whoever signed in before the owner has no business in the account",
        end=_end,
    ),
]
