"""Entries about administrators and tenants, which only administrators of every tenant may read."""

from typing import Final

from audit.events import Event

_THINGS: Final = ("Admin", "Administrator", "Tenant", "SecondStep", "RecoveryCode", "RecoveryCodes")

ADMINISTRATIVE: Final = frozenset(event.value for event in Event if event.value.partition(".")[0] in _THINGS)


def hidden_from(reader: object) -> frozenset[str]:
    """Return the keys of the entries that a reader in the API or the console may not see."""
    return frozenset() if getattr(reader, "is_superuser", False) else ADMINISTRATIVE
