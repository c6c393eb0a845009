"""The ways to sign in that a user has. Apps above register them, and the operators' site shows them.

Removing the last way that works is refused: see ``has_way_in``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from identity.operator_kit.panels import Link
from identity.users.models import User


@dataclass(frozen=True, slots=True)
class SignInWay:
    """A way to sign in, such as "Email and password". ``problem`` says why it does not work, or is empty.

    ``operation`` is the name of the operation on the user that fixes it, and ``link`` leads to the setting.
    Failed sign-ins lock the ways with ``needs_password``. ``connector_id`` is that of the provider of a
    linked account.
    """

    name: str
    problem: str = ""
    operation: str = ""
    link: Link | None = None
    needs_password: bool = False
    connector_id: str = ""


GetWays = Callable[[User], list[SignInWay]]
_sources: Final[list[GetWays]] = []


def register(get: GetWays) -> None:
    """Register a function that returns ways of a user."""
    _sources.append(get)


def get_ways(user: User) -> list[SignInWay]:
    """Return the ways of a user, those that work first."""
    ways = [way for get in _sources for way in get(user)]
    return sorted(ways, key=lambda way: bool(way.problem))


def has_way_in(user: User) -> bool:
    """Return whether a user can sign in: in a way that is not switched off and has no other problem."""
    return any(not way.problem for way in get_ways(user))
