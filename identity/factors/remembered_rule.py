"""The rule of the tenant by which browsers are remembered, which an app above this one stores."""

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from identity.factors import browsers
from identity.factors.browsers import TrustedDevices

GetRule = Callable[[], TrustedDevices | None]
_functions: Final[list[GetRule]] = []


def register(get_rule: GetRule) -> None:
    """Register the function that returns the active tenant's rule, or None if no browser is remembered."""
    _functions[:] = [get_rule]


def still_counts(user_id: UUID, signed_in_at: datetime) -> bool:
    """Return whether a sign-in without the second factor still counts, by the tenant's rule of now.

    It is not stored in which browser a user signed in. The sign-in counts as long as any browser of the
    user that was remembered at the sign-in still is.
    """
    return browsers.was_remembered(user_id, _functions[0](), at=signed_in_at)
