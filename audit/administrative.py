"""Entries about administrators and tenants, which only superusers may read."""

from typing import Final

from audit.events import Event

_SUBJECTS: Final = (
    "Admin", "Administrator", "Invitation", "ProviderAccount", "Tenant",
    "SecondStep", "AdministratorPasskey", "RecoveryCode", "RecoveryCodes",
)  # fmt: skip

ADMINISTRATIVE: Final = frozenset(
    event.value for event in Event if event.value.partition(".")[0] in _SUBJECTS
)


def hidden_from(reader: object) -> frozenset[str]:
    """Return the keys of the entries that a caller of the API or an operator may not see."""
    return frozenset() if getattr(reader, "is_superuser", False) else ADMINISTRATIVE
