"""The lock of a person's codes: authenticator, backup and mailed codes count together, from any address."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from identity.factors.errors import FactorLocked, WrongFactor
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt


def get_group(user_id: UUID) -> str:
    """Return the group of the lock, by which an administrator can lift it."""
    return f"second factor {user_id}"


@contextmanager
def code_attempt(user_id: UUID) -> Iterator[LoginAttempt]:
    """Verify a code in the block. A wrong one counts for the person, and each one for the client's address.

    Raises:
        FactorLocked: there were too many wrong codes.
        limits.TooMany: too many sign-ins from this address.

    """
    with limits.login_attempt(
        (rules.SECOND_FACTOR, str(user_id)),
        failure=WrongFactor,
        locked=FactorLocked,
        within=rules.SIGN_INS,
        group=get_group(user_id),
    ) as attempt:
        yield attempt
