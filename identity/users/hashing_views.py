"""Marks views that hash a password for people who are not signed in."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

V = TypeVar("V")

_MARK: Final = "hashes_a_password"


def hashes_password(*, field: str = "") -> Callable[[V], V]:
    """Mark a view that hashes a password when something is posted to it.

    With a ``field`` only what holds that field is hashed for: other steps share the address.
    """

    def marked(view: V) -> V:
        setattr(view, _MARK, field)
        return view

    return marked


def field_of(view: Any) -> str | None:
    """Return the field that a view was marked with (an empty string: any), or nothing for other views."""
    marked: str | None = getattr(getattr(view, "cls", view), _MARK, None)
    return marked
