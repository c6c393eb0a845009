"""Ending what remembered browsers were granted: apps above register the functions."""

from collections.abc import Callable
from typing import Final

from identity.users.models import User

EndGrants = Callable[[User], None]
_functions: Final[list[EndGrants]] = []


def register(end: EndGrants) -> None:
    """Call a function when the remembered browsers of a user are forgotten, in the same transaction."""
    _functions.append(end)


def end(user: User) -> None:
    """End what remembered browsers of a user were granted because no second factor was asked for.

    Browsers beyond the limit have no row any more. What they were granted ends only here.
    """
    for end_grants in _functions:
        end_grants(user)
