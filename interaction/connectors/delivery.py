"""Sending messages through the tenant's connectors."""

from collections import defaultdict
from dataclasses import replace
from typing import Final

from django.conf import settings

from identity.core.errors import ServiceError
from interaction.connectors import configs, email_domains
from interaction.connectors.messages import EMAIL, SMS, Message
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Config, Sender

_CHANNELS: Final[dict[str, str]] = {Connector.Type.EMAIL: EMAIL, Connector.Type.SMS: SMS}


class NoConnector(ServiceError):
    """Nobody carries this kind of message."""

    reason = "no_connector"

    def __init__(self, channel: str) -> None:
        super().__init__(f"no {channel} connector is enabled, so nothing can be sent")


def channels() -> set[str]:
    """Return the channels that messages of the active tenant can be sent through."""
    return set().union(*channels_by_tenant().values(), _always())


def channels_by_tenant() -> defaultdict[str, set[str]]:
    """Return the same of each tenant that the active scope sees, in one statement."""
    enabled = Connector.objects.filter(type__in=_CHANNELS, enabled=True)
    found: defaultdict[str, set[str]] = defaultdict(_always)
    for tenant_id, type_, name in enabled.values_list("tenant_id", "type", "connector_id"):
        if isinstance(registry.find(name), Sender):
            found[tenant_id].add(_CHANNELS[type_])
    return found


def _always() -> set[str]:
    return set(_CHANNELS.values()) if settings.DEVELOPMENT else set()


def can_deliver(channel: str) -> bool:
    """Tell whether messages of a channel can be sent."""
    return channel in channels()


def can_deliver_text(channel: str) -> bool:
    """Tell whether messages of a channel can say what they like, and not a code alone."""
    carrier = _carrier(channel)
    return carrier is not None and not getattr(carrier[0], "only_codes", False)


def deliver(message: Message) -> None:
    """Send a message through the newest enabled connector of its channel. It takes its time.

    Raises:
        NoConnector: there is none.
        ProviderError: the provider did not take it.

    """
    carrier = _carrier(message.channel)
    if carrier is None:
        raise NoConnector(message.channel)
    sender, config = carrier
    hand_over(sender, config, message)


def hand_over(sender: Sender, config: Config, message: Message) -> None:
    """Have a provider send a message, to the domain that the recipient's address means.

    Raises:
        ProviderError: the provider did not take it, or there is no such domain.

    """
    if message.channel == EMAIL:
        message = replace(message, to=email_domains.for_delivery(message.to))
    sender.send(config, message)


def _carrier(channel: str) -> tuple[Sender, Config] | None:
    type_ = Connector.Type.EMAIL if channel == EMAIL else Connector.Type.SMS
    for connector in Connector.objects.filter(type=type_, enabled=True).order_by("-created_at", "-pk"):
        provider = registry.find(connector.connector_id)
        if isinstance(provider, Sender):
            return provider, configs.complete(provider, connector.config())
    outbox = registry.find(f"outbox-{channel}") if settings.DEVELOPMENT else None
    return (outbox, {}) if isinstance(outbox, Sender) else None
