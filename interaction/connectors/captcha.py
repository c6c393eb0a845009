"""Having people solve a CAPTCHA where programs would make accounts or have messages sent.

A tenant asks for one while a connector of the type ``Captcha`` is enabled.
"""

from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from django.conf import settings

from audit import context
from identity.core.errors import Invalid, ServiceError
from identity.encryption import keyring
from interaction.connectors import configs
from interaction.connectors.errors import ProviderError
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import CaptchaProvider, Config

FIELD: Final = "captcha_token"

# A provider that answers slowly holds the threads that wait for it: never all of them.
_conversations = BoundedSemaphore(settings.THREADS // 2)


class Unavailable(ServiceError):
    """The provider does not say whether the CAPTCHA was solved."""

    status = 503
    reason = "captcha_unavailable"
    message = "the CAPTCHA cannot be checked at this moment"


@dataclass(frozen=True, slots=True)
class Captcha:
    """What a tenant has people solve."""

    provider: CaptchaProvider
    config: Config

    @property
    def site_key(self) -> str:
        """The public key that the widget is shown with."""
        return str(self.config["site_key"])


def current() -> Captcha | None:
    """Return what the tenant asks for, by its newest enabled connector, if anything.

    Raises:
        Unavailable: the connector's configuration does not open.

    """
    for connector in Connector.objects.filter(type=Connector.Type.CAPTCHA, enabled=True).order_by(
        "-created_at", "-pk"
    ):
        provider = registry.find(connector.connector_id)
        if isinstance(provider, CaptchaProvider):
            try:
                return Captcha(provider, configs.complete(provider, connector.config()))
            except keyring.UnknownKey:
                raise Unavailable from None
    return None


def check(token: str) -> None:
    """Refuse who has not solved the CAPTCHA that the tenant asks for, if it asks for one.

    Raises:
        Invalid: the token is missing, wrong, or was used before.
        Unavailable: the provider does not say.

    """
    asked = current()
    if asked is None:
        return
    if not token:
        raise Invalid(FIELD, f"is required: solve the CAPTCHA of {asked.provider.name}")
    if not _conversations.acquire(blocking=False):
        raise Unavailable(headers={"Retry-After": "2"})
    try:
        is_solved = asked.provider.is_solved(asked.config, token, context.current().ip)
    except ProviderError:
        raise Unavailable(headers={"Retry-After": "5"}) from None
    finally:
        _conversations.release()
    if not is_solved:
        raise Invalid(FIELD, "is wrong, has expired or was used before: solve the CAPTCHA again")
