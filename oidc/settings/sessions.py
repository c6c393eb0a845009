"""The settings that sessions depend on, copied to the tenant, where the queries of sessions read them."""

from typing import Final

from identity.tenants import services as tenants
from oidc.settings.models import OidcSettings

_FIELDS: Final = ("session_idle_seconds", "session_absolute_seconds", "keep_signed_in")


def copy(row: OidcSettings, changed: frozenset[str]) -> None:
    """Copy the changed settings of sessions to the tenant."""
    if columns := {name: getattr(row, name) for name in _FIELDS if name in changed}:
        tenants.set_session_settings(**columns)
