"""The rows that other apps store of a user, and what happens to them when the account gets a new owner.

``settings.USER_DATA`` names the declarations by dotted path, so that this app need not import them. A test
fails if a model with a foreign key to a user has no declaration.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db.models import Exists, Q
from django.utils.module_loading import import_string

from identity.users.identifiers import Kind
from identity.users.models import User


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """A model with a foreign key to a user.

    When an account gets a new owner, ``end`` deletes or ends its rows. Without ``end`` they stay. ``reason``
    says why. When an account loses an email or phone, ``end_dependent_on`` ends the rows that depend on it
    alone. ``evidence`` is a condition on the user, ``OuterRef("pk")``. A matching row is evidence that the
    account has an owner, like a proven identifier. ``remove_ways`` removes the rows with which the user can
    sign in, for ``assigned_passwords``.
    """

    model: str
    reason: str
    end: Callable[[User], None] | None = None
    end_dependent_on: Callable[[User, Kind], None] | None = None
    evidence: Callable[[], Exists] | None = None
    remove_ways: Callable[[User], None] | None = None


@cache
def get_declarations() -> tuple[UserData, ...]:
    """Return all declarations, in the order in which their rows are ended."""
    return tuple(kind for path in settings.USER_DATA for kind in import_string(path))


def end_dependent_on(user: User, kind: Kind) -> None:
    """End the rows that depend on an identifier that a user has lost."""
    for data in get_declarations():
        if data.end_dependent_on is not None:
            data.end_dependent_on(user, kind)


def other_evidence() -> Q:
    """Return the condition that an account has evidence of an owner other than email and phone."""
    return Q(*(data.evidence() for data in get_declarations() if data.evidence is not None), _connector=Q.OR)
