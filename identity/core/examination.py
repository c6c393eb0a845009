"""Questions of ``manage.py doctor``: system checks that ask what runs, and not only what is written.

Each stands in ``checks.py`` of the app that knows the thing. They are checks of a deployment
that look into the database, so other commands, ``migrate`` among them, do not ask them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from django.core.checks import CheckMessage, Tags, register

from identity.core import tenancy

TAG: Final = "doctor"
Question = Callable[[], Iterable[CheckMessage]]


def examined(question: Question) -> Question:
    """Have a question asked by the doctor, with all tenants in sight.

    Each finding says what is wrong, how to mend it (``hint``), and never a secret.
    """

    def check(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
        if not databases:
            return []
        with tenancy.using(tenancy.EVERYWHERE):
            return list(question())

    check.__name__ = question.__name__
    register(check, TAG, Tags.database, deploy=True)
    return question


def named(things: Sequence[str], *, most: int = 10) -> str:
    """Return a list for a sentence, cut where it gets long."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(things[:most]) + more
