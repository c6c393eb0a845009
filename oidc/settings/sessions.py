"""The settings that sessions depend on, copied to the tenant, where the queries of sessions read them."""

from typing import Final

from identity.sessions import services as sessions
from identity.tenants import services as tenants
from oidc.settings.models import OidcSettings

_LIFETIMES: Final = ("session_idle_seconds", "session_absolute_seconds")
_FIELDS: Final = (*_LIFETIMES, "keep_signed_in")


def copy(row: OidcSettings, changed: frozenset[str]) -> None:
    """Copy the changed settings of sessions to the tenant. Sessions that have expired stay expired."""
    if columns := {name: getattr(row, name) for name in _FIELDS if name in changed}:
        if not columns.keys().isdisjoint(_LIFETIMES):
            sessions.end_expired()
        tenants.set_session_settings(**columns)
