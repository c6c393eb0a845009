"""The time zone in which the operators' site shows times to an administrator."""

from collections.abc import Iterable
from datetime import UTC, tzinfo
from functools import cache
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

# The others are abbreviations, offsets, and older names of these.
_REGIONS: Final = frozenset(
    {
        "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian",
        "Pacific",
    }
)  # fmt: skip


@cache
def get_names() -> tuple[str, ...]:
    """Return the IANA names of the zones that can be chosen, in order."""
    return tuple(sorted(name for name in available_timezones() if name.partition("/")[0] in _REGIONS))


def get_regions() -> Iterable[tuple[str, list[tuple[str, str]]]]:
    """Return the regions, each with the names of its zones and their labels."""
    for region, names in groupby(get_names(), key=lambda name: name.partition("/")[0]):
        yield region, [(name, name.partition("/")[2].replace("_", " ")) for name in names]


def find(name: str) -> tzinfo:
    """Return the zone with a name; UTC if the name is empty or this machine does not know it."""
    return ZoneInfo(name) if name and name in get_names() else UTC
