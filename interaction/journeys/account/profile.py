"""Changing what an account says of its person."""

from typing import Any

from django.db import transaction

from identity.core.errors import ServiceError
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from interaction.experience import services as experience
from interaction.journeys.account import confirmation


class UsernameIsFixed(ServiceError):
    """The tenant does not let people change their username."""

    status = 403
    reason = "username_is_fixed"
    message = "username: people cannot change it here"


def check_renaming() -> None:
    """Refuse unless the tenant lets people change their username.

    Raises:
        UsernameIsFixed: it does not.

    """
    if not experience.current().account["username_change"]:
        raise UsernameIsFixed


def change(user: User, fields: dict[str, Any]) -> None:
    """Change name and avatar, as far as they differ.

    Raises:
        Invalid: a field breaks a rule.

    """
    changed = {name: value for name, value in fields.items() if getattr(user, name) != value}
    if changed:
        users.change(user, changed)


def change_username(session: Session, *, username: str, password: str) -> None:
    """Give the person another username, with which they sign in from now on.

    Raises:
        UsernameIsFixed: the tenant does not allow it.
        Invalid: the username breaks a rule, or is somebody else's.
        credentials.InvalidCredentials: the password is wrong.
        confirmation.SignInAgain: there is none and the sign-in is too old, or the session ended meanwhile.

    """
    check_renaming()
    confirmation.confirm(session, password)
    with transaction.atomic():
        change(session.user, {"username": username})
        confirmation.check_still_signed_in(session)
