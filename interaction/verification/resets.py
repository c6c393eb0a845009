"""Passwords that were set with a mailed or texted code: such a code is no second factor soon after."""

from collections.abc import Mapping

from database.clock import seconds_ahead
from identity.users.identifiers import Kind
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
