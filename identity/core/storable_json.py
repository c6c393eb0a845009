"""Whether every database can store a JSON object."""

from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill

QUOTED: Final = 64  # characters of a name that a message repeats
_MAX_DEPTH: Final = 32


class NotStorable(ValueError):
    """The object holds a NUL or is too deep. ``field`` is empty if the NUL is in a name at the top."""

    def __init__(self, rule: str, field: str = "") -> None:
        self.field = field
        self.rule = rule
        super().__init__(f"{field}: {rule}" if field else rule)


def check(document: dict[str, Any]) -> int:
    """Check that every database can store an object, and return the number of names in it.

    Raises:
        NotStorable: the object cannot be stored.

    """
    if any("\0" in name for name in document):
        raise NotStorable(gettext_noop("the names of fields must not hold a NUL character"))
    names = len(document)
    pending: list[tuple[str, object, int]] = [(name, value, 2) for name, value in document.items()]
    while pending:
        field, value, depth = pending.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise NotStorable(gettext_noop("must not hold a NUL character"), field[:QUOTED])
        elif isinstance(value, dict | list):
            if depth > _MAX_DEPTH:
                raise NotStorable(
                    fill(gettext_noop("is nested deeper than %(most)s levels"), most=_MAX_DEPTH),
                    field[:QUOTED],
                )
            if isinstance(value, dict):
                names += len(value)
                pending.extend((field, name, depth) for name in value)
                value = value.values()
            pending.extend((field, item, depth + 1) for item in value)
    return names
