"""What the doctor asks about connectors."""

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core import keyring
from identity.core.examination import examined, named
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry


@examined
def connectors() -> Iterator[CheckMessage]:
    """Ask whether their secrets can be read, and whether anything can go through them."""
    closed: list[str] = []
    unknown: list[str] = []
    for connector in Connector.objects.select_related("tenant").order_by("pk"):
        label = f"{connector.connector_id} of {connector.tenant.slug}"
        try:
            connector.config()
        except keyring.UnknownKey:
            closed.append(label)
        if connector.enabled and registry.find(connector.connector_id) is None:
            unknown.append(label)
    if closed:
        yield Error(
            f"the configuration of connectors does not open with ENCRYPTION_KEYS: {named(closed)}",
            hint="put the key it was sealed with behind the others in ENCRYPTION_KEYS; if that is lost for "
            "good, "
            "delete the connector and make it again",
            id="connectors.E001",
        )
    if unknown:
        yield Warning(
            "connectors are enabled whose provider is not built in, so nothing goes through them: "
            f"{named(unknown)}",
            hint="see how the provider's connector_id is spelt in docs/api.md, or disable it",
            id="connectors.W002",
        )
