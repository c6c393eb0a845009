"""Passwords that were set with a mailed or texted code: such a code is no second factor soon after."""

from collections.abc import Iterable, Mapping

from database.clock import DatabaseNow, seconds_ahead
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.verification.models import RESET_SECONDS, Purpose, VerificationCode


def find_kinds(keys: Mapping[Kind, str]) -> frozenset[Kind]:
    """Return the kinds of address with whose code a password was set within the last day.

    ``keys`` are the keys of a user's addresses.
    """
    spent = VerificationCode.objects.filter(
        purpose=Purpose.FORGOT_PASSWORD, spent_at__gt=seconds_ahead(-RESET_SECONDS)
    )
    found = spent.filter(identifier_key__in=list(keys.values())).values_list("kind", "identifier_key")
    return frozenset(Kind(kind) for kind, key in found if keys.get(Kind(kind)) == key)


def record(user: User, kinds: Iterable[Kind]) -> None:
    """Store that a user set a password after entering codes that were sent to addresses of these kinds.

    The rows are like those of codes for a forgotten password that were just spent. They have no code.
    """
    now = DatabaseNow()
    for kind in kinds:
        if address := getattr(user, kind):
            VerificationCode.objects.create(
                purpose=Purpose.FORGOT_PASSWORD,
                kind=kind,
                identifier_key=getattr(user, f"{kind}_key"),
                address=address,
                expires_at=now,
                used_at=now,
                spent_at=now,
            )
