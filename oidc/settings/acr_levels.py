"""The values of ``acr`` that a tenant knows, and their levels."""

from typing import Final

from identity.factors.levels import ACR, Level
from oidc.settings import services

_LEVELS: Final = {value: int(level) for level, value in ACR.items()}
# No sign-in reaches it.
UNREACHABLE: Final = Level.HARDWARE + 1


def get_all() -> dict[str, int]:
    """Return the level of each value: those of the standard names, and the aliases of the tenant."""
    aliases = services.current().acr_aliases
    return _LEVELS | {alias["value"]: _LEVELS[alias["level"]] for alias in aliases}


def get_required_level(value: str) -> int:
    """Return the level that a required value stands for; 1 without a value.

    Nothing reaches the level of a value that the tenant no longer knows. Only aliases cost a statement.
    """
    if not value:
        return Level.ONE
    return _LEVELS[value] if value in _LEVELS else get_all().get(value, UNREACHABLE)
