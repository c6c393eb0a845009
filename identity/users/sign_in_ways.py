"""The ways to sign in that a user has, from ``settings.SIGN_IN_WAYS``. The operators' site shows them.

Removing the last way that works is refused: see ``has_way_in``.
"""

from dataclasses import dataclass

from django.conf import settings
from django.utils.module_loading import import_string

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


def get_ways(user: User) -> list[SignInWay]:
    """Return the ways of a user, those that work first."""
    ways: list[SignInWay] = import_string(settings.SIGN_IN_WAYS)(user)
    return sorted(ways, key=lambda way: bool(way.problem))


def has_way_in(user: User) -> bool:
    """Return whether a user can sign in: in a way that is not switched off and has no other problem."""
    return any(not way.problem for way in get_ways(user))
