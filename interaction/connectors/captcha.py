"""The CAPTCHA that protects registration and the sending of codes from automated requests.

A tenant requires a CAPTCHA while it has an enabled connector of the type ``Captcha``.
"""

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_noop

from audit import context
from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import fill
from identity.encryption import keyring
from interaction.connectors import configs
from interaction.connectors.errors import ProviderError
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import CaptchaProvider, Config
from interaction.connectors.slots import PROVIDERS

FIELD: Final = "captcha_token"


class Unavailable(ServiceError):
    """The provider cannot be reached, or its configuration cannot be decrypted."""

    status = 503
    reason = "captcha_unavailable"
    message = gettext_noop("the CAPTCHA cannot be verified right now: try again later")


@dataclass(frozen=True, slots=True)
class Captcha:
    """The CAPTCHA provider of a tenant and its configuration."""

    provider: CaptchaProvider
    config: Config

    @property
    def site_key(self) -> str:
        """The widget's public key."""
        return str(self.config["site_key"])


def current() -> Captcha | None:
    """Return the CAPTCHA of the tenant's newest enabled connector; None without a connector.

    Raises:
        Unavailable: the connector's configuration cannot be decrypted.

    """
    for connector in Connector.objects.filter(type=Connector.Type.CAPTCHA, enabled=True).order_by(
        "-created_at", "-pk"
    ):
        provider = registry.find(connector.connector_id)
        if isinstance(provider, CaptchaProvider):
            try:
                return Captcha(provider, configs.with_defaults(provider, connector.config()))
            except keyring.UnknownKey:
                raise Unavailable from None
    return None


def check(token: str) -> None:
    """Verify a CAPTCHA token, if the tenant requires a CAPTCHA.

    Raises:
        Invalid: the token is missing, is wrong or was used before.
        Unavailable: the provider cannot be reached, or too many requests are waiting for providers.

    """
    captcha = current()
    if captcha is None:
        return
    if not token:
        raise Invalid(
            FIELD,
            fill(gettext_noop("is required: solve the CAPTCHA of %(name)s"), name=captcha.provider.name),
        )
    try:
        with PROVIDERS.take(Unavailable(headers={"Retry-After": "2"})):
            is_solved = captcha.provider.is_solved(captcha.config, token, context.current().ip)
    except ProviderError:
        raise Unavailable(headers={"Retry-After": "5"}) from None
    if not is_solved:
        raise Invalid(
            FIELD, gettext_noop("is wrong, has expired or was used before: solve the CAPTCHA again")
        )
