"""The redirect URIs to register with social providers."""

from uuid import UUID

from identity.core import tenancy
from interaction.connectors.models import Connector

PATH = "/social/callback"
# The release that no longer serves the callback that connectors of 0.1.0 share (docs/upgrades.md).
SHARED_UNTIL = "1.0.0"


def get_redirect_uri(connector: Connector) -> str:
    """Return the redirect URI of a social connector; an empty string for connectors of other types."""
    return redirect_uri(connector.pk, type=connector.type, has_own_callback=connector.has_own_callback)


def redirect_uri(pk: UUID, *, type: str, has_own_callback: bool) -> str:  # noqa: A002 - the column's name
    """Return the redirect URI of a connector whose row was read as plain values."""
    if type != Connector.Type.SOCIAL:
        return ""
    shared = f"{tenancy.active().issuer}{PATH}"
    return f"{shared}/{pk}" if has_own_callback else shared
