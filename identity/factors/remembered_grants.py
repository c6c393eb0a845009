"""The end of what remembered browsers were granted: apps above register functions that end it."""

from collections.abc import Callable
from typing import Final

from identity.users.models import User

EndGrants = Callable[[User], None]
_ends: Final[list[EndGrants]] = []


def register(end: EndGrants) -> None:
    """Call a function when the remembered browsers of a user are forgotten, in the same transaction."""
    _ends.append(end)


def end(user: User) -> None:
    """End what remembered browsers of a user were granted because no second factor was asked for.

    Browsers beyond the limit have no row any more, but what they were granted remains until it is ended here.
    """
    for end_grants in _ends:
        end_grants(user)
