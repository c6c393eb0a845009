"""The rows that other apps store of a user, and the effect of a change of owner on them.

``settings.USER_DATA`` names the declarations by dotted path, so that this app imports none above it. A
test fails for a model with a foreign key to a user and no declaration.
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

    ``end`` deletes or ends the rows of a user whose account gets a new owner; without it they stay, and
    ``reason`` says why. ``end_resting_on`` ends the rows that depend on an email or phone alone, when the
    account loses it. ``evidence`` is a condition on ``OuterRef("pk")``, the user: such a row is evidence
    that the account has an owner, like a proven identifier.
    """

    model: str
    reason: str
    end: Callable[[User], None] | None = None
    end_resting_on: Callable[[User, Kind], None] | None = None
    evidence: Callable[[], Exists] | None = None


@cache
def get_declarations() -> tuple[UserData, ...]:
    """Return all declarations, in the order in which their rows end."""
    return tuple(kind for path in settings.USER_DATA for kind in import_string(path))


def end_resting_on(user: User, kind: Kind) -> None:
    """End the rows that depend on an identifier that a user has lost."""
    for data in get_declarations():
        if data.end_resting_on is not None:
            data.end_resting_on(user, kind)


def other_evidence() -> Q:
    """Return the condition that an account has evidence of an owner other than email and phone."""
    return Q(*(data.evidence() for data in get_declarations() if data.evidence is not None), _connector=Q.OR)
