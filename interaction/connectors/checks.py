"""What the doctor asks about connectors."""

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.examination import examined, named
from identity.encryption import keyring
from interaction.connectors import callbacks
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry


@examined
def connectors() -> Iterator[CheckMessage]:
    """Ask whether their secrets can be read, and whether anything can go through them."""
    closed: list[str] = []
    unknown: list[str] = []
    sharing: list[str] = []
    for connector in Connector.objects.select_related("tenant").order_by("pk"):
        label = f"{connector.connector_id} of {connector.tenant.slug}"
        try:
            connector.config()
        except keyring.UnknownKey:
            closed.append(label)
        if connector.enabled and registry.find(connector.connector_id) is None:
            unknown.append(label)
        if connector.enabled and connector.type == Connector.Type.SOCIAL and not connector.has_own_callback:
            sharing.append(label)
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
    if sharing:
        yield Warning(
            "social connectors share one callback, so a malicious provider among them can get at another's "
            f"codes: {named(sharing)}. It is served until release {callbacks.SHARED_UNTIL}",
            hint="register {issuer}/social/callback/{id of the connector} with the provider as a further "
            'redirect URI, then send PATCH /api/v1/connectors/{id} {"has_own_callback": true} or press "Use '
            "its own callback\" on the connector's page in the console",
            id="connectors.W003",
        )
