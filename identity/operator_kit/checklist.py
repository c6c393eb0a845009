"""The first steps with a new tenant, for the dashboard. Apps register them in their ``admin`` modules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from identity.operator_kit.panels import Link
from identity.operator_kit.texts import Text


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the checklist, which is sorted by ``place``. ``is_done`` is called with the administrator.

    Only administrators with the permission see the step. ``page`` is a page of the documentation.
    """

    place: int
    label: Text
    description: Text
    permission: str
    get_url: Callable[[], str]
    is_done: Callable[[Any], bool]
    page: str = ""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as an administrator sees it."""

    label: Text
    description: Text
    url: str
    is_done: bool
    page: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A sentence about a default that may surprise, and the page that changes it."""

    text: Text
    page: Link


_steps: Final[list[Step]] = []
_cautions: Final[list[tuple[str, Callable[[], Caution | None]]]] = []


def register(*steps: Step) -> None:
    _steps.extend(steps)


def register_caution(permission: str, find: Callable[[], Caution | None]) -> None:
    """Show a caution below the steps to administrators with a permission, unless ``find`` returns None."""
    _cautions.append((permission, find))


def get_cautions(administrator: Any) -> list[Caution]:
    """Return the cautions about the active tenant that an administrator sees."""
    allowed = [find for permission, find in _cautions if administrator.has_perm(permission)]
    return [caution for find in allowed if (caution := find())]


def get_steps(administrator: Any) -> list[ShownStep]:
    """Return the steps that an administrator may take in the active tenant."""
    return [
        ShownStep(step.label, step.description, step.get_url(), step.is_done(administrator), step.page)
        for step in sorted(_steps, key=lambda step: step.place)
        if administrator.has_perm(step.permission)
    ]
