"""The delivery of messages through the tenant's connectors."""

from collections import defaultdict
from dataclasses import replace
from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from identity.core.tenant_statements import SelectValues
from identity.users import identifiers
from interaction.connectors import configs
from interaction.connectors.messages import EMAIL, SMS, Message
from interaction.connectors.models import Connector
from interaction.connectors.providers import mailboxes, registry
from interaction.connectors.providers.base import Config, Sender

_CHANNELS: Final[dict[str, str]] = {Connector.Type.EMAIL: EMAIL, Connector.Type.SMS: SMS}
_enabled: Final = SelectValues(
    lambda: Connector.objects.filter(type__in=_CHANNELS, enabled=True).values_list("type", "connector_id")
)

_MISSING: Final = {
    EMAIL: gettext_noop("no email connector is enabled, so no message can be sent"),
    SMS: gettext_noop("no sms connector is enabled, so no message can be sent"),
}


class NoConnector(ServiceError):
    """No enabled connector can send this kind of message."""

    reason = "no_connector"

    def __init__(self, channel: str) -> None:
        super().__init__(_MISSING[channel])


def channels() -> set[str]:
    """Return the channels through which the active tenant can send messages."""
    return _enabled_channels() | _development_channels()


def uses_outbox(channel: str) -> bool:
    """Return whether messages are written to the outbox folder, because no connector is enabled."""
    return channel in _development_channels() and channel not in _enabled_channels()


def _enabled_channels() -> set[str]:
    return {_CHANNELS[type_] for type_, name in _enabled.all() if isinstance(registry.find(name), Sender)}


def channels_by_tenant() -> defaultdict[str, set[str]]:
    """Return the channels of each visible tenant by tenant id, with one query."""
    enabled = Connector.objects.filter(type__in=_CHANNELS, enabled=True)
    by_tenant: defaultdict[str, set[str]] = defaultdict(_development_channels)
    for tenant_id, type_, name in enabled.values_list("tenant_id", "type", "connector_id"):
        if isinstance(registry.find(name), Sender):
            by_tenant[tenant_id].add(_CHANNELS[type_])
    return by_tenant


def _development_channels() -> set[str]:
    return set(_CHANNELS.values()) if settings.DEVELOPMENT else set()


def can_deliver(channel: str) -> bool:
    """Return whether the tenant can send messages through a channel."""
    return channel in channels()


def can_deliver_text(channel: str) -> bool:
    """Return whether the messages of a channel can have any text. Some providers send only codes."""
    sender = _find_sender(channel)
    return sender is not None and not getattr(sender[0], "only_codes", False)


def deliver(message: Message) -> None:
    """Send a message through the newest enabled connector of its channel, and wait for the provider.

    Raises:
        NoConnector: the channel has no enabled connector.
        Invalid: the recipient is not a valid email address.
        ProviderError: the provider did not accept the message.

    """
    found = _find_sender(message.channel)
    if found is None:
        raise NoConnector(message.channel)
    sender, config = found
    send(sender, config, message)


def send(sender: Sender, config: Config, message: Message) -> None:
    """Send a message through a provider. The domain of an email address is encoded by IDNA 2008.

    Raises:
        Invalid: the recipient is not a valid email address. Earlier releases stored some that are not.
        ProviderError: the provider did not accept the message, or the domain is not valid.

    """
    if message.channel == EMAIL:
        to = identifiers.clean_email(message.to)
        message = replace(message, to=mailboxes.delivery_address(to))
    sender.send(config, message)


def _find_sender(channel: str) -> tuple[Sender, Config] | None:
    type_ = Connector.Type.EMAIL if channel == EMAIL else Connector.Type.SMS
    for connector in Connector.objects.filter(type=type_, enabled=True).order_by("-created_at", "-pk"):
        provider = registry.find(connector.connector_id)
        if isinstance(provider, Sender):
            return provider, configs.with_defaults(provider, connector.config())
    outbox = registry.find(f"outbox-{channel}") if settings.DEVELOPMENT else None
    return (outbox, {}) if isinstance(outbox, Sender) else None
