"""Changing the profile and the username of a user."""

from typing import Any

from django.db import transaction

from identity.core.errors import ServiceError
from identity.core.proof import NO_ADMINISTRATOR
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from identity.users.profile import merge_into
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import reauthentication


class UsernameIsFixed(ServiceError):
    """The tenant does not let users change their username."""

    status = 403
    reason = "username_is_fixed"
    message = "username: changing usernames is disabled"


class ChangedTooOften(limits.TooMany):
    """The user changed their profile too often."""

    reason = "changed_too_often"


def check_username_change(experience: SignInExperience) -> None:
    """Check that the tenant lets users change their username.

    Raises:
        UsernameIsFixed: it does not.

    """
    if not experience.account["username_change"]:
        raise UsernameIsFixed


def change(user: User, fields: dict[str, Any]) -> None:
    """Change the fields of the profile that differ.

    Raises:
        Invalid: a field breaks a rule.
        ChangedTooOften: the user changed the profile too often.

    """
    merged = merge_into(user.profile, fields)
    changed = {name: fields[name] for name, value in merged.items() if getattr(user, name) != value}
    if changed:
        # The audit log keeps each change.
        limits.hit((rules.PROFILE_CHANGES, str(user.pk)), refusal=ChangedTooOften)
        users.change(user, changed, is_proven=NO_ADMINISTRATOR)


def change_username(session: Session, experience: SignInExperience, *, username: str, password: str) -> None:
    """Change the user's username.

    Raises:
        UsernameIsFixed: the tenant does not allow it.
        Invalid: the username breaks a rule, or another user has it.
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.SignInAgain: a sign-in is required, or the session ended meanwhile.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        passwords.Busy: too many passwords are being hashed.
        limits.TooMany: too many from this network.
        ChangedTooOften: the user changed the profile too often.

    """
    check_username_change(experience)
    # As a registration does, the answer says whether another user has the username.
    limits.hit_by_network(rules.REGISTRATIONS)
    reauthentication.reauthenticate(session, password)
    with transaction.atomic():
        change(session.user, {"username": username})
        reauthentication.check_still_signed_in(session)
