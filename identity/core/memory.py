"""How much memory values take, for caches that tenants can fill."""

import sys
from collections.abc import Mapping
from typing import Any


def get_size(*values: Any, limit: int) -> int:
    """Return the bytes that values and what their containers hold take. Above ``limit`` it stops counting.

    Mappings, lists, tuples and sets are containers. Each object is counted once. A byte of JSON can take
    forty: an empty list in a list is two bytes of JSON.
    """
    size, uncounted, counted = 0, list(values), set[int]()
    while uncounted and size <= limit:
        value = uncounted.pop()
        if id(value) in counted:
            continue
        counted.add(id(value))
        size += sys.getsizeof(value)
        if isinstance(value, Mapping):
            uncounted += value.keys()
            uncounted += value.values()
        elif isinstance(value, list | tuple | set | frozenset):
            uncounted += value
    return size
