"""The OpenID provider of administrators, whose client is that of the connectors.

The installation's settings configure the provider, because connectors belong to tenants. ``management``
reaches this module by ``settings.ADMIN_OIDC_CLIENT``.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from interaction.connectors import relying_party
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.providers.base import Endpoints
from interaction.connectors.providers.oidc import Oidc
from interaction.connectors.relying_party import Secrets

_PROVIDER: Final = Oidc()
_log: Final = logging.getLogger(__name__)


class ProviderFailed(ServiceError):
    """The provider does not respond, or its response is not valid."""

    status = 502
    reason = "provider_failed"
    message = gettext_noop("the sign-in at the provider failed: the server's log says why")


def build_url(config: Mapping[str, str], secrets: Mapping[str, str], *, redirect_uri: str) -> str:
    """Return the URL of the authorization request.

    Raises:
        ProviderFailed: the provider's endpoints cannot be discovered.

    """
    try:
        endpoints = relying_party.get_endpoints(_PROVIDER, config)
    except ProviderError as error:
        raise _failure(error) from None
    return relying_party.authorization_url(endpoints, config, Secrets(**secrets), redirect_uri=redirect_uri)


def redeem(
    config: Mapping[str, str], secrets: Mapping[str, str], *, redirect_uri: str, code: str, iss: str
) -> Mapping[str, Any]:
    """Exchange the code of a response, and return the claims of its validated ID token.

    Raises:
        ProviderFailed: the response is another provider's, or the code or the ID token is not valid.

    """
    try:
        endpoints = relying_party.get_endpoints(_PROVIDER, config)
        _check_issuer(endpoints, iss)
        tokens = relying_party.redeem(
            endpoints, config, code=code, secrets=Secrets(**secrets), redirect_uri=redirect_uri
        )
    except ProviderError as error:
        raise _failure(error) from None
    return tokens.claims


def _check_issuer(endpoints: Endpoints, iss: str) -> None:
    if not relying_party.is_expected_issuer(endpoints, iss):
        raise ProviderError(gettext_noop("the response is from another issuer"), Reason.ISSUER)


def _failure(error: ProviderError) -> ProviderFailed:
    _log.warning("sign-in of an administrator at the provider failed: %s", error)
    return ProviderFailed()
