"""The authentication context (``acr``) that tokens name, in tenants that have second factors."""

from collections.abc import Sequence

from identity.factors.levels import ACR, Level
from identity.sessions.models import Session
from oidc.settings import acr_levels


def find_least(values: Sequence[str]) -> int | None:
    """Return the lowest level among the known values, which is enough, or None if none of them is known."""
    levels = acr_levels.get_levels(values)
    return min((levels[value] for value in values if value in levels), default=None)


def get_value(session: Session, requested: Sequence[str]) -> str:
    """Return the value for a session: the first requested one that it satisfies, else that of its level.

    The value is empty in a tenant without second factors. A requested value is returned as it was spelled.
    """
    if session.highest_level <= Level.ONE:
        return ""
    if requested:
        levels = acr_levels.get_all()
        for value in requested:
            if levels.get(value, acr_levels.UNREACHABLE) <= session.level:
                return value
    return ACR[Level(session.level)]


def find_supported(level: int) -> tuple[str, ...]:
    """Return the values up to the highest level of the active tenant, and their aliases.

    There are none in a tenant without second factors.
    """
    if level <= Level.ONE:
        return ()
    return tuple(value for value, its_level in acr_levels.get_all().items() if its_level <= level)
