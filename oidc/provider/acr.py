"""The authentication context (``acr``) that tokens name, in tenants that have second factors."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from identity.factors.levels import ACR, Level
from identity.sessions.models import Session
from oidc.settings import services as oidc_settings

_LEVELS: Final = {value: int(level) for level, value in ACR.items()}
UNKNOWN: Final = Level.HARDWARE + 1  # no sign-in reaches it


def find_least(values: Sequence[str]) -> int | None:
    """Return the lowest level among the known values, which is enough, or None if none of them is known."""
    levels = _LEVELS
    if not all(value in _LEVELS for value in values):
        levels = _LEVELS | _get_aliases()
    return min((levels[value] for value in values if value in levels), default=None)


def get_value(session: Session, requested: Sequence[str]) -> str:
    """Return the value for a session: the first requested one that it satisfies, else that of its level.

    It is empty in a tenant without second factors. What is told is spelled as it was asked for.
    """
    if session.highest_level <= Level.ONE:
        return ""
    if requested:
        levels = _LEVELS | _get_aliases()
        for value in requested:
            if levels.get(value, UNKNOWN) <= session.level:
                return value
    return ACR[Level(session.level)]


def describe(level: int, claims: Sequence[str]) -> dict[str, Any]:
    """Return the members of discovery: the values up to a level and their aliases, and the claim."""
    values = [value for value, its_level in [*_LEVELS.items(), *_list_aliases()] if its_level <= level]
    return {"acr_values_supported": values, "claims_supported": [*claims, "acr"]}


def _get_aliases() -> dict[str, int]:
    return dict(_list_aliases())


def _list_aliases() -> Iterator[tuple[str, int]]:
    for alias in oidc_settings.current().acr_aliases:
        yield alias["value"], _LEVELS[alias["level"]]
