"""The sessions that end with a user: see ``identity.core.impacts``."""

from typing import Final

from django.db.models import QuerySet
from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from identity.sessions.models import Session
from identity.users.models import User


def _of_user(user: User) -> QuerySet[Session]:
    return Session.objects.live().filter(user=user)


LOSSES: Final = [
    Loss(
        "users.User",
        Verb.END,
        "sessions",
        _of_user,
        ngettext_lazy("%(number)s session ends", "%(number)s sessions end", "count"),
    ),
]
