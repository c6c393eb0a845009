"""The OpenID provider of administrators, whose client is that of the connectors.

The installation's settings configure the provider, because connectors belong to tenants. ``management``
reaches this module by ``settings.ADMIN_OIDC_CLIENT``.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from interaction.connectors import relying_party
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.providers.base import Endpoints
from interaction.connectors.providers.oidc import Oidc
from interaction.connectors.relying_party import Secrets
from interaction.connectors.slots import PROVIDERS, Busy

_PROVIDER: Final = Oidc()
# Every client can start this sign-in, so it leaves slots to the providers of the tenants.
_HOLDER: Final = "administrators"
_MOST_SLOTS: Final = max(1, settings.THREADS // 8)
_FAILURE_SECONDS: Final = 5  # for which a provider is not asked again after its discovery failed
_log: Final = logging.getLogger(__name__)
_failed_until: Final[dict[str, float]] = {}  # by issuer


class ProviderFailed(ServiceError):
    """The provider does not respond, or its response is not valid."""

    status = 502
    reason = "provider_failed"
    message = gettext_noop("the sign-in at the provider failed: the server's log says why")


def build_url(config: Mapping[str, str], secrets: Mapping[str, str], *, redirect_uri: str) -> str:
    """Return the URL of the authorization request.

    Raises:
        Busy: too many requests are waiting for providers.
        ProviderFailed: the provider's endpoints cannot be discovered.

    """
    with _provider_call():
        endpoints = _get_endpoints(config)
    return relying_party.authorization_url(endpoints, config, Secrets(**secrets), redirect_uri=redirect_uri)


def redeem(
    config: Mapping[str, str], secrets: Mapping[str, str], *, redirect_uri: str, code: str, iss: str
) -> Mapping[str, Any]:
    """Exchange the code of a response, and return the claims of its validated ID token.

    Raises:
        Busy: too many requests are waiting for providers.
        ProviderFailed: the response is another provider's, or the code or the ID token is not valid.

    """
    with _provider_call():
        endpoints = _get_endpoints(config)
        _check_issuer(endpoints, iss)
        tokens = relying_party.redeem(
            endpoints, config, code=code, secrets=Secrets(**secrets), redirect_uri=redirect_uri
        )
    return tokens.claims


@contextmanager
def _provider_call() -> Iterator[None]:
    """Call the provider in the block, while few other requests of administrators do.

    If the issuer is a tenant of this installation, the calls are requests to this server, which need threads
    but no slots.

    Raises:
        Busy: too many requests are waiting for providers.
        ProviderFailed: the block raised a ``ProviderError``.

    """
    try:
        with PROVIDERS.take(Busy(headers={"Retry-After": "2"}), by=_HOLDER, most=_MOST_SLOTS):
            yield
    except ProviderError as error:
        raise _failure(error) from None


def _get_endpoints(config: Mapping[str, str]) -> Endpoints:
    issuer = config["issuer"]
    if time.monotonic() < _failed_until.get(issuer, 0):
        raise ProviderError("the discovery failed a few seconds ago")
    try:
        return relying_party.get_endpoints(_PROVIDER, config)
    except ProviderError:
        _failed_until[issuer] = time.monotonic() + _FAILURE_SECONDS
        raise


def _check_issuer(endpoints: Endpoints, iss: str) -> None:
    if not relying_party.is_expected_issuer(endpoints, iss):
        raise ProviderError(gettext_noop("the response is from another issuer"), Reason.ISSUER)


def _failure(error: ProviderError) -> ProviderFailed:
    _log.warning("sign-in of an administrator at the provider failed: %s", error)
    return ProviderFailed()
