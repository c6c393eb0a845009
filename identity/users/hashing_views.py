"""The mark of views that hash a password for people who are not signed in."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

V = TypeVar("V")

_MARK: Final = "hashes_a_password"


def hashes_password(*, field: str = "") -> Callable[[V], V]:
    """Mark a view whose POST requests hash a password, for ``config.server.load_shedding``.

    With ``field`` only requests that have this field hash a password. Views with several steps need it.
    """

    def mark(view: V) -> V:
        setattr(view, _MARK, field)
        return view

    return mark


def get_marked_field(view: Any) -> str | None:
    """Return the field of a marked view, an empty string if it has none, or None for an unmarked view."""
    field: str | None = getattr(getattr(view, "cls", view), _MARK, None)
    return field
