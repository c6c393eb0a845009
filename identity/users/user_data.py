"""What other apps keep of a user, and what a change of owner does to it.

``settings.USER_DATA`` names the declarations by dotted path, so that nothing here imports an app above
this one. A test walks all models that point to a user and refuses one that nobody declared.
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
    """A kind of row that points to a user.

    ``end`` removes or ends the rows of a user whose account gets a new owner; without it they stay,
    and ``reason`` says why. ``end_resting_on`` ends those that rest on an email or phone alone, when the
    account loses it to a new owner or to another account. ``evidence`` is a condition on
    ``OuterRef("pk")``, the user: such a row shows that the account has an owner, as a proven identifier
    does.
    """

    model: str
    reason: str
    end: Callable[[User], None] | None = None
    end_resting_on: Callable[[User, Kind], None] | None = None
    evidence: Callable[[], Exists] | None = None


@cache
def declared() -> tuple[UserData, ...]:
    """Return all kinds, in the order in which they end."""
    return tuple(kind for path in settings.USER_DATA for kind in import_string(path))


def end_resting_on(user: User, kind: Kind) -> None:
    """End what rests on an identifier that a user's account has lost."""
    for data in declared():
        if data.end_resting_on is not None:
            data.end_resting_on(user, kind)


def other_evidence() -> Q:
    """Return the condition that a user has evidence of an owner besides email and phone."""
    return Q(*(kind.evidence() for kind in declared() if kind.evidence is not None), _connector=Q.OR)
