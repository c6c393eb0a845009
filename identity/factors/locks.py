"""The lock of a user's codes: authenticator, backup and mailed codes count together, from any network."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from identity.factors.errors import FactorLocked, WrongFactor
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt
from identity.users import sign_in_locks


def is_locked(user_id: UUID) -> bool:
    """Return whether codes of a user are refused now."""
    return bool(limits.get_locks([sign_in_locks.get_second_factor_group(user_id)]))


@contextmanager
def code_attempt(user_id: UUID) -> Iterator[LoginAttempt]:
    """Verify a code in the block. A wrong code counts for the user, and every code for the client's network.

    Raises:
        FactorLocked: there were too many wrong codes.
        limits.TooMany: too many sign-ins from this network.

    """
    with limits.login_attempt(
        (rules.SECOND_FACTOR, str(user_id)),
        failure=WrongFactor,
        locked=FactorLocked,
        within=rules.SIGN_INS,
        group=sign_in_locks.get_second_factor_group(user_id),
    ) as attempt:
        yield attempt
