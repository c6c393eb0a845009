"""Problems of a tenant, for the dashboard. Apps register functions that find them, in ``admin`` modules."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from identity.operator_kit.panels import Link
from identity.operator_kit.texts import Text


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that needs attention, and the page on which it can be fixed, if there is one."""

    text: Text
    detail: Text
    page: Link | None = None
    is_serious: bool = False


# Returns the problems of one kind in the active tenant. It must not use the network, and must read few rows.
FindProblems = Callable[[], Iterable[Problem]]
_finders: Final[list[tuple[str, FindProblems]]] = []


def register(permission: str, find: FindProblems) -> None:
    """Register a function that finds problems, which only administrators with the permission see."""
    _finders.append((permission, find))


def find_problems(administrator: Any) -> list[Problem]:
    """Return the problems that an administrator may see in the active tenant."""
    finders = [find for permission, find in _finders if administrator.has_perm(permission)]
    return [problem for find in finders for problem in find()]
