"""Lists in claims. One that is too long for a token is left out."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

_MOST_ENTRIES: Final = 200
_MOST_BYTES: Final = 6144  # of the lists together, as JSON


def build_claims(lists: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the lists as claims, without those that are too long.

    A list with more than 200 entries is left out, and so is a list that brings the lists before it and itself
    to more than 6 KiB. The claim ``{name}_truncated`` says so, because a shortened list would look complete.
    """
    claims: dict[str, Any] = {}
    total = 0
    for name, listed in lists.items():
        size = len(orjson.dumps(listed))
        if len(listed) > _MOST_ENTRIES or total + size > _MOST_BYTES:
            claims[f"{name}_truncated"] = True
            continue
        total += size
        claims[name] = listed
    return claims
