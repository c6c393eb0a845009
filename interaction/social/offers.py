"""The social connectors that users can sign in with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from identity.encryption import keyring
from interaction.connectors import arrangement, callbacks, configs
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import SocialProvider


class NotOffered(ServiceError):
    """No enabled connector has the requested id, or its provider cannot be used."""

    status = 404
    reason = "not_offered"
    message = gettext_noop("this way to sign in is not offered")


@dataclass(frozen=True, slots=True)
class Offer:
    """An enabled connector.

    ``provider`` is None if the provider is not built in, or if the key that encrypted the configuration
    is missing. Then the button leads to an error page.
    """

    connector: Connector
    provider: SocialProvider | None
    config: Mapping[str, Any]

    @property
    def connector_id(self) -> str:
        """The id in the URL that starts the sign-in."""
        return self.connector.connector_id

    @property
    def type(self) -> str:
        """The type of the connector."""
        return self.connector.type

    @property
    def can_reauthenticate(self) -> bool:
        """Whether the provider honours ``max_age`` and ``prompt=login``."""
        return self.provider is not None and self.provider.can_reauthenticate

    def has_accounts_of(self, provider: str) -> bool:
        """Return whether an account with this ``provider`` can sign in here."""
        return self.provider is not None and self.provider.has_accounts_of(self.config, provider)

    @property
    def redirect_uri(self) -> str:
        """The address to which the provider redirects browsers."""
        return callbacks.get_redirect_uri(self.connector)

    @property
    def name(self) -> str:
        """The provider's name on pages."""
        if self.provider is None:
            return self.connector_id
        return configs.get_name(self.provider, self.config)


def get_offers(*, must_reauthenticate: bool = False) -> list[Offer]:
    """Return the newest enabled connector of each provider, as arranged, or else newest first.

    ``must_reauthenticate`` leaves out providers that cannot reauthenticate a user.
    """
    newest: dict[str, Connector] = {}
    for connector in _enabled():
        newest.setdefault(connector.connector_id, connector)
    offers = [new_offer(connector) for connector in arrangement.arrange(newest.values())]
    return [offer for offer in offers if offer.can_reauthenticate or not must_reauthenticate]


def get_offer(connector_id: str) -> Offer:
    """Return the newest enabled connector with this id.

    Raises:
        NotOffered: there is none.

    """
    # A URL may contain NUL, which PostgreSQL refuses in text.
    connector = None if "\0" in connector_id else _enabled().filter(connector_id=connector_id).first()
    if connector is None:
        raise NotOffered
    return new_offer(connector)


def get_offer_of(connector: Connector | None) -> Offer:
    """Return the offer of the connector with which a pending sign-in started.

    Raises:
        NotOffered: it was deleted or disabled meanwhile.

    """
    if connector is None or not connector.enabled:
        raise NotOffered
    return new_offer(connector)


def _enabled() -> Any:
    return Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).order_by("-created_at", "-pk")


def new_offer(connector: Connector) -> Offer:
    """Return the offer of a connector, whether it is enabled or not."""
    provider = registry.find(connector.connector_id)
    if not isinstance(provider, SocialProvider):
        return Offer(connector, None, {})
    try:
        config = configs.with_defaults(provider, connector.config())
    except keyring.UnknownKey:
        return Offer(connector, None, {})
    return Offer(connector, provider, config)
