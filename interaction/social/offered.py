"""The social connectors that people are offered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from identity.core.errors import ServiceError
from identity.encryption import keyring
from interaction.connectors import callbacks, configs
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import SocialProvider


class NotOffered(ServiceError):
    """There is no such way to sign in, or it was switched off, or there is nothing behind it."""

    status = 404
    reason = "not_offered"
    message = "this way to sign in is not offered"


@dataclass(frozen=True, slots=True)
class Offer:
    """A connector that is switched on. One without a provider is a button that leads nowhere.

    Its provider may be none of ours, or its configuration sealed with a key that is gone.
    """

    connector: Connector
    provider: SocialProvider | None
    config: Mapping[str, Any]

    @property
    def connector_id(self) -> str:
        """What the connector is chosen by."""
        return self.connector.connector_id

    @property
    def type(self) -> str:
        """What kind of connector it is."""
        return self.connector.type

    @property
    def can_reauthenticate(self) -> bool:
        """Whether the provider asks people again who they are when a request wants that."""
        return self.provider is not None and self.provider.can_reauthenticate

    @property
    def redirect_uri(self) -> str:
        """Where the provider sends browsers back to."""
        return callbacks.redirect_uri_of(self.connector)

    @property
    def name(self) -> str:
        """What people call the provider."""
        if self.provider is None:
            return self.connector_id
        return str(self.config.get("display_name") or self.provider.name)


def all_of_them(*, must_ask_again: bool = False) -> list[Offer]:
    """Return what is switched on, newest first; of several connectors of one provider the newest.

    ``must_ask_again`` leaves out providers that do not ask people again who they are.
    """
    newest: dict[str, Connector] = {}
    for connector in _enabled():
        newest.setdefault(connector.connector_id, connector)
    offers = [_offer(connector) for connector in newest.values()]
    return [offer for offer in offers if offer.can_reauthenticate or not must_ask_again]


def one(connector_id: str) -> Offer:
    """Return the newest connector of that id.

    Raises:
        NotOffered: none is switched on.

    """
    # PostgreSQL knows no text with a NUL, and an address may hold one.
    connector = None if "\0" in connector_id else _enabled().filter(connector_id=connector_id).first()
    if connector is None:
        raise NotOffered
    return _offer(connector)


def again(connector: Connector | None) -> Offer:
    """Return a connector that somebody was sent away by, if it is still switched on.

    Raises:
        NotOffered: it was deleted or switched off meanwhile.

    """
    if connector is None or not connector.enabled:
        raise NotOffered
    return _offer(connector)


def _enabled() -> Any:
    return Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).order_by("-created_at", "-pk")


def _offer(connector: Connector) -> Offer:
    provider = registry.find(connector.connector_id)
    if not isinstance(provider, SocialProvider):
        return Offer(connector, None, {})
    try:
        config = configs.with_defaults(provider, connector.config())
    except keyring.UnknownKey:
        return Offer(connector, None, {})
    return Offer(connector, provider, config)
