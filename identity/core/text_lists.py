"""Lists within a line of text, as the active language writes them."""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import get_language

# Where it is not ", ": what the list patterns of Unicode's CLDR have between two items.
_SEPARATORS: Final = {"ar": "، ", "ja": "、", "zh-hans": "、"}


def get_separator() -> str:
    """Return what the active language writes between two items of a list."""
    return _SEPARATORS.get(get_language() or "", ", ")


def join(items: Iterable[object]) -> str:
    """Return the items with the separator of the active language between them, such as "a, b, c"."""
    return get_separator().join(map(str, items))
