"""The made-up connectors of the demo tenant: see ``settings.DEMO_DATA``."""

from typing import Any, Final

from identity.core.proof import NO_ADMINISTRATOR
from interaction.connectors import services
from interaction.connectors.models import Connector

# The mail server is disabled, so that messages still arrive in the outbox folder.
_CONNECTORS: Final[tuple[dict[str, Any], ...]] = (
    {
        "connector_id": "google",
        "type": "Social",
        "config": {"client_id": "northwind.apps.googleusercontent.com", "client_secret": "made-up"},
        "enabled": True,
    },
    {
        "connector_id": "smtp",
        "type": "Email",
        "config": {
            "host": "mail.northwind.example",
            "username": "gatehouse",
            "password": "made-up",
            "from_email": "accounts@northwind.example",
        },
    },
)


def create() -> dict[str, int]:
    """Create the connectors that the active tenant does not have, and return how many."""
    known = set(Connector.objects.values_list("connector_id", flat=True))
    missing = [fields for fields in _CONNECTORS if fields["connector_id"] not in known]
    for fields in missing:
        services.create(**fields, is_proven=NO_ADMINISTRATOR)
    return {"connectors": len(missing)}
