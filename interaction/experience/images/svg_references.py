"""How many elements a browser draws for an SVG whose parts refer to other parts.

A few groups that each show the group before ten times would be millions of elements.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 20_000
_MAX_DEPTH: Final = 50
_URL: Final = re.compile(r"""url\(\s*["']?#([\w.:-]+)""", re.IGNORECASE)


@dataclass
class _Part:
    """An element with an id: the number of elements that it contains, and the ids that they refer to."""

    number: int = 0
    references: list[str] = field(default_factory=list)


class References:
    """Follows the elements of a picture as they are read."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._whole = _Part()
        self._open: list[_Part | None] = []

    def start(self, attributes: dict[str, str]) -> None:
        """Count an element, and store the references in its kept attributes."""
        name = attributes.get("id")
        self._open.append(self._parts.setdefault(name, _Part()) if name else None)
        references = list(_find_references(attributes))
        for part in (self._whole, *filter(None, self._open)):
            part.number += 1
            part.references += references

    def end(self) -> None:
        self._open.pop()

    def is_too_much(self) -> bool:
        """Return whether more than ``MOST`` elements are drawn, or references are nested too deeply."""
        return self._measure(self._whole, {}, 0) > MOST

    def _measure(self, part: _Part, costs: dict[str, int], depth: int) -> int:
        """Return how many elements are drawn for a part, at most ``MOST`` + 1."""
        if depth > _MAX_DEPTH:
            return MOST + 1
        total = part.number
        for name in part.references:
            if name in self._parts and name not in costs:
                costs[name] = MOST + 1  # for a part that refers to itself
                costs[name] = self._measure(self._parts[name], costs, depth + 1)
            total += costs.get(name, 0)
        return min(total, MOST + 1)


def _find_references(attributes: dict[str, str]) -> Iterable[str]:
    for name, value in attributes.items():
        if name == "href":
            yield value.removeprefix("#")
        else:
            yield from _URL.findall(value)
