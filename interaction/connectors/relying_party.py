"""Gatehouse as the relying party of another provider: authorization request, code exchange, ID token.

Only this module and ``provider_keys`` import the client libraries. Authlib builds the request and validates
the claims, joserfc verifies the signature. ``outbound`` sends the requests, never a library.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from django.utils.translation import gettext_noop
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError, MissingClaimError

from identity.core.refusal_texts import fill
from interaction.connectors import provider_keys
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.providers import oauth
from interaction.connectors.providers.base import Config, Endpoints, SocialProvider, TokenResponse
from interaction.connectors.tenant_cache import TenantCache
from interaction.connectors.time_window import get_time_window

_SKEW_SECONDS: Final = 60
_CACHE_SECONDS: Final = 300
_LONGEST_TOKEN: Final = 65_536
_cache: Final = TenantCache[tuple[str, tuple[tuple[str, Any], ...]], Endpoints]()
_CLIENT_ERRORS: Final = range(400, 500)
_REASONS: Final = {
    "iss": Reason.ISSUER,
    "aud": Reason.AUDIENCE,
    "azp": Reason.AUDIENCE,
    "nonce": Reason.NONCE,
}


@dataclass(frozen=True, slots=True)
class Secrets:
    """The single-use values that bind a provider's response to the browser that sent the request."""

    state: str
    nonce: str
    verifier: str


def get_endpoints(provider: SocialProvider, config: Config) -> Endpoints:
    """Return a provider's endpoints, cached for five minutes.

    Raises:
        ProviderError: the endpoints cannot be discovered.

    """
    destinations = tuple((field.name, config[field.name]) for field in provider.fields if field.destination)
    window = get_time_window(_CACHE_SECONDS)
    key = (provider.connector_id, destinations)
    return _cache.get(key, window, lambda: provider.endpoints(dict(destinations)))


def authorization_url(
    endpoints: Endpoints, config: Config, secrets: Secrets, *, redirect_uri: str, max_age: int | None = None
) -> str:
    """Return the URL of the authorization request, with state, PKCE and, for OpenID providers, nonce.

    ``max_age`` in seconds is only for providers that can reauthenticate users, and makes the provider return
    ``auth_time`` (OpenID Connect Core 3.1.2.1). With 0, ``prompt=login`` is sent too.
    """
    client = OAuth2Client(
        None,
        client_id=config["client_id"],
        scope=config["scope"] or None,
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
    )
    extra = {"nonce": secrets.nonce} if endpoints.issuer else {}
    if endpoints.form_post:
        extra["response_mode"] = "form_post"
    if max_age is not None:
        extra |= {"max_age": str(max_age)} | ({} if max_age else {"prompt": "login"})
    url, _ = client.create_authorization_url(
        endpoints.authorization, state=secrets.state, code_verifier=secrets.verifier, **extra
    )
    return str(url)


def get_auth_time(tokens: TokenResponse) -> datetime | None:
    """Return when the user signed in at the provider; None without a valid ``auth_time``."""
    auth_time, now = tokens.claims.get("auth_time"), time.time()
    if not isinstance(auth_time, int | float) or isinstance(auth_time, bool):
        return None
    if not 0 < auth_time < now + _SKEW_SECONDS:
        return None
    return datetime.fromtimestamp(min(auth_time, now), tz=UTC)


def is_recent(auth_time: datetime | None, *, max_age: int | None, asked_at: datetime) -> bool:
    """Return whether the sign-in at the provider satisfies ``max_age``; false if its time is unknown."""
    if max_age is None:
        return True
    return auth_time is not None and auth_time >= asked_at - timedelta(seconds=max_age + _SKEW_SECONDS)


def is_expected_issuer(endpoints: Endpoints, iss: str) -> bool:
    """Return whether the ``iss`` of an authorization response is the provider's (RFC 9207 section 2.4)."""
    if not iss:
        return not endpoints.sends_iss
    return not endpoints.issuer or _is_template(endpoints.issuer) or iss == endpoints.issuer


def redeem(
    endpoints: Endpoints, config: Config, *, code: str, secrets: Secrets, redirect_uri: str
) -> TokenResponse:
    """Exchange a code for tokens and, at an OpenID provider, validate the ID token.

    Raises:
        ProviderError: the provider refuses the code, or its response is not valid.

    """
    response = oauth.exchange(
        endpoints, config, code=code, verifier=secrets.verifier, redirect_uri=redirect_uri
    )
    tokens = response.json()
    access_token = tokens.get("access_token")
    if response.status in _CLIENT_ERRORS or "error" in tokens:
        raise ProviderError(gettext_noop("the provider does not accept the code"), Reason.CODE_REFUSED)
    if not response.ok:
        raise ProviderError(
            fill(
                gettext_noop("the provider's token endpoint responded with HTTP %(status)s"),
                status=response.status,
            )
        )
    if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
        raise ProviderError(gettext_noop("the provider's token endpoint returned no access token"))
    if not endpoints.issuer:
        return TokenResponse(access_token, {})
    token = tokens.get("id_token")
    if not isinstance(token, str) or not 0 < len(token) <= _LONGEST_TOKEN:
        raise ProviderError(gettext_noop("the provider's token endpoint returned no ID token"))
    return TokenResponse(
        access_token, _validated_claims(token, access_token, endpoints, config, secrets.nonce)
    )


def _validated_claims(
    token: str, access_token: str, endpoints: Endpoints, config: Config, nonce: str
) -> Mapping[str, Any]:
    """Return the claims of an ID token, validated (OpenID Connect Core 3.1.3.7)."""
    try:
        decoded = provider_keys.verify(token, endpoints.jwks)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": _issuer(endpoints, decoded.claims)},
                "aud": {"essential": True, "value": config["client_id"]},
            },
            params={"nonce": nonce, "client_id": config["client_id"], "access_token": access_token},
        )
        claims.validate(leeway=_SKEW_SECONDS)
    except ClaimError as error:
        raise ProviderError(
            fill(
                gettext_noop("the claim %(claim)s of the provider's ID token is not valid"), claim=error.claim
            ),
            _get_reason(error),
        ) from None
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        # On malformed input, the libraries raise not only their own errors.
        raise ProviderError(gettext_noop("the provider's ID token is not valid")) from None
    return dict(claims)


def _issuer(endpoints: Endpoints, claims: Mapping[str, Any]) -> str:
    if not _is_template(endpoints.issuer):
        return endpoints.issuer
    return endpoints.issuer.replace("{tenantid}", str(UUID(claims["tid"])))


def _is_template(issuer: str) -> bool:
    return "{tenantid}" in issuer


def _get_reason(error: ClaimError) -> Reason:
    match error:
        case ExpiredTokenError():
            return Reason.EXPIRED
        case MissingClaimError():
            return Reason.MISSING_CLAIM
        case _:
            return _REASONS.get(error.claim, Reason.ANSWER)
