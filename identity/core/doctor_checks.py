"""Registering the checks of ``manage.py doctor``, which examine the running installation.

The checks are in the ``checks.py`` of each app. They are Django deployment checks that query the database, so
other commands, such as ``migrate``, do not run them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from django.core.checks import CheckMessage, Tags, register

from identity.core import tenancy

TAG: Final = "doctor"
Check = Callable[[], Iterable[CheckMessage]]
# The checks that the dashboard shows to superusers, each with the name of the page that fixes its findings.
SHOWN: Final[list[tuple[Check, str]]] = []


def doctor_check(check: Check) -> Check:
    """Register a check of the doctor. It runs with access to all tenants.

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


def shown_on_dashboard(page: str = "") -> Callable[[Check], Check]:
    """Declare that a check uses no network and reads few rows, so the dashboard may run it each time."""

    def declare(check: Check) -> Check:
        SHOWN.append((check, page))
        return check

    return declare


def join_names(names: Sequence[str], *, most: int = 10) -> str:
    """Return at most ``most`` names as text, and the number of further ones."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
