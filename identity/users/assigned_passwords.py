"""Passwords that administrators and applications set for users."""

from django.db import transaction
from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from identity.core.proof import TokenTooOld
from identity.users import credentials, factor_bits, row_locks, sign_in_ways, user_data
from identity.users.models import User


class NoWayLeft(ServiceError):
    """The user could not sign in with the new password."""

    reason = "last_way_in"
    message = gettext_noop(
        "without linked accounts and passkeys this user could not sign in: the sign-in experience accepts no "
        "password with an identifier of this user"
    )


def set_password(
    user: User,
    password: str,
    *,
    remove_others: bool = False,
    expected: frozenset[int] | None = None,
    is_proven: bool,
) -> None:
    """Set a new password, which ends all sessions, refresh tokens and locks at once.

    With ``remove_others`` it is the only way to sign in, besides codes: linked accounts and passkeys are
    removed. ``is_proven`` is whether the administrator who sets it has signed in recently.

    Raises:
        TokenTooOld: passkeys would be removed, and ``is_proven`` is false.
        Invalid: the password is too short or too long.
        passwords.Busy: the hashing queue is full.
        records.Stale: the user was changed since the caller read it.
        NoWayLeft: without the others, the user could not sign in any more.

    """
    encoded = credentials.hash_new_password(password)
    if not remove_others:
        credentials.store_password(user, encoded, expected=expected)
        return
    with transaction.atomic():
        factors = row_locks.lock_factors(user)
        if not is_proven and factor_bits.have_passkey(factors):
            raise TokenTooOld
        had_way_in = sign_in_ways.has_way_in(user)
        for data in user_data.get_declarations():
            if data.remove_ways is not None:
                data.remove_ways(user)
        credentials.store_password(user, encoded, expected=expected)  # its notice names what remains
        if had_way_in and not sign_in_ways.has_way_in(user):
            raise NoWayLeft
