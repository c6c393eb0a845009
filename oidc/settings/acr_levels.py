"""The values of ``acr`` that a tenant knows, and their levels."""

from collections.abc import Iterable
from typing import Final

from identity.factors.levels import ACR, Level
from oidc.settings import services

_LEVELS: Final = {value: int(level) for level, value in ACR.items()}
# A level that no sign-in reaches.
UNREACHABLE: Final = Level.HARDWARE + 1


def get_all() -> dict[str, int]:
    """Return the level of each value of ``acr``: the names of the levels, and the tenant's aliases."""
    aliases = services.current().acr_aliases
    return _LEVELS | {alias["value"]: _LEVELS[alias["level"]] for alias in aliases}


def get_levels(values: Iterable[str]) -> dict[str, int]:
    """Return a mapping with the levels of the known ones among these values. Only aliases need a query."""
    return _LEVELS if all(value in _LEVELS for value in values) else get_all()


def get_required_level(value: str) -> int:
    """Return the level that a required value stands for; 1 without a value.

    No sign-in reaches the level of a value that the tenant no longer knows.
    """
    if not value:
        return Level.ONE
    return get_levels([value]).get(value, UNREACHABLE)
