"""Checks of ``manage.py doctor``: system checks of the running installation, and not only of the code.

Each is in ``checks.py`` of the app that it is about. They are deployment checks that query the database, so
other commands, such as ``migrate``, do not run them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from django.core.checks import CheckMessage, Tags, register

from identity.core import tenancy

TAG: Final = "doctor"
Check = Callable[[], Iterable[CheckMessage]]


def doctor_check(check: Check) -> Check:
    """Register a check of the doctor, which runs with access to all tenants.

    Each finding says what is wrong and how to correct it (``hint``). It never contains a secret.
    """

    def system_check(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
        if not databases:
            return []
        with tenancy.using(tenancy.EVERYWHERE):
            return list(check())

    system_check.__name__ = check.__name__
    register(system_check, TAG, Tags.database, deploy=True)
    return check


def join_names(things: Sequence[str], *, most: int = 10) -> str:
    """Return names as a list in a sentence, with at most ``most`` of them."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(things[:most]) + more
