"""Discovery of OpenID providers (OpenID Connect Discovery 1.0)."""

from typing import Any

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Endpoints

_BASIC, _POST = "client_secret_basic", "client_secret_post"


def fetch(issuer: str) -> Endpoints:
    """Return the endpoints of an issuer.

    Raises:
        ProviderError: the discovery document is missing, unusable, or belongs to another issuer.

    """
    response = web.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if not response.ok:
        raise ProviderError(
            fill(
                gettext_noop("the request for the discovery document returned HTTP %(status)s"),
                status=response.status,
            )
        )
    document = response.json()
    # Section 4.3: the issuer MUST be identical to the one whose document was requested.
    if document.get("issuer") != issuer:
        raise ProviderError(
            gettext_noop("the discovery document has another issuer: compare it, including a final slash"),
            Reason.ISSUER,
        )
    if "code" not in _list(document, "response_types_supported", ["code"]):
        raise ProviderError(gettext_noop("the issuer does not support the authorization code flow"))
    return Endpoints(
        authorization=_address(document, "authorization_endpoint"),
        token=_address(document, "token_endpoint"),
        userinfo=_address(document, "userinfo_endpoint") if "userinfo_endpoint" in document else "",
        issuer=issuer,
        jwks=_address(document, "jwks_uri"),
        basic_auth=_POST not in _list(document, "token_endpoint_auth_methods_supported", [_BASIC]),
        sends_iss=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _address(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise ProviderError(fill(gettext_noop("the discovery document has no %(name)s"), name=name))
    if rules.https_url(value) is not None:
        raise ProviderError(fill(gettext_noop("the discovery document has an invalid %(name)s"), name=name))
    return value


def _list(document: dict[str, Any], name: str, default: list[str]) -> list[Any]:
    value = document.get(name, default)
    return value if isinstance(value, list) else default
