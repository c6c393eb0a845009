"""We as the client of another provider: sending a browser there, redeeming its code, checking its ID token.

The one module that knows the client library. Authlib makes the request and judges the
claims, joserfc the signature; what is fetched goes through ``outbound``, never through a
transport of theirs.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import oauth
from interaction.connectors.providers.base import Config, Endpoints, Granted, SocialProvider

# Never ``none``, and nothing that is signed with the secret two parties share.
_ALGORITHMS: Final = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
_SKEW_SECONDS: Final = 60
_KEPT_SECONDS: Final = 300
_FRESH_SECONDS: Final = 10
_LONGEST_TOKEN: Final = 65_536


@dataclass(frozen=True, slots=True)
class Secrets:
    """What ties an answer to the browser that asked: single use, told to nobody before its time."""

    state: str
    nonce: str
    verifier: str


def endpoints_of(provider: SocialProvider, config: Config) -> Endpoints:
    """Return where a provider speaks, asked again every five minutes.

    Raises:
        ProviderError: it does not say.

    """
    where = tuple((field.name, config[field.name]) for field in provider.fields if field.destination)
    return _endpoints(provider, where, _moment(_KEPT_SECONDS))  # type: ignore[arg-type]  # it has no __eq__


@lru_cache(maxsize=256)
def _endpoints(
    provider: SocialProvider, where: tuple[tuple[str, Any], ...], moment: tuple[int, int]
) -> Endpoints:
    return provider.endpoints(dict(where))


def address(
    endpoints: Endpoints, config: Config, secrets: Secrets, *, redirect_uri: str, max_age: int | None = None
) -> str:
    """Return where the browser is sent, with state, PKCE and, to an OpenID provider, nonce.

    ``max_age`` is how many seconds ago the person may have proven who they are, at most, and is for
    providers that ask again. It is sent with ``prompt=login`` too, because a provider that is sent
    it has to say when the person signed in (OpenID Connect Core 3.1.2.1).
    """
    client = OAuth2Client(
        None,
        client_id=config["client_id"],
        scope=config["scope"] or None,
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
    )
    extra = {"nonce": secrets.nonce} if endpoints.issuer else {}
    if max_age is not None:
        extra |= {"max_age": str(max_age)} | ({} if max_age else {"prompt": "login"})
    made, _ = client.create_authorization_url(
        endpoints.authorization, state=secrets.state, code_verifier=secrets.verifier, **extra
    )
    return str(made)


def signed_in_at(granted: Granted) -> datetime | None:
    """Return when the person signed in there; nothing from a provider that does not say so believably."""
    said, now = granted.claims.get("auth_time"), time.time()
    if not isinstance(said, int | float) or isinstance(said, bool) or not 0 < said < now + _SKEW_SECONDS:
        return None
    return datetime.fromtimestamp(min(said, now), tz=UTC)


def is_recent(signed_in_at: datetime | None, *, max_age: int | None, asked_at: datetime) -> bool:
    """Tell whether the person signed in there as lately as was asked. Without a date nobody knows."""
    if max_age is None:
        return True
    return signed_in_at is not None and signed_in_at >= asked_at - timedelta(seconds=max_age + _SKEW_SECONDS)


def may_answer(endpoints: Endpoints, iss: str) -> bool:
    """Tell whether an answer that names this issuer, or none, can be theirs (RFC 9207 section 2.4)."""
    if not iss:
        return not endpoints.names_itself
    return not endpoints.issuer or _is_template(endpoints.issuer) or iss == endpoints.issuer


def redeem(
    endpoints: Endpoints, config: Config, *, code: str, secrets: Secrets, redirect_uri: str
) -> Granted:
    """Exchange a code for tokens, and check the ID token where there has to be one.

    Raises:
        ProviderError: the provider refuses, or what it says cannot be believed.

    """
    answer = oauth.exchange(
        endpoints, config, code=code, verifier=secrets.verifier, redirect_uri=redirect_uri
    )
    tokens = answer.json()
    access_token = tokens.get("access_token")
    if not answer.ok or "error" in tokens:
        raise ProviderError("the provider does not accept the code")
    if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
        raise ProviderError("the provider's token endpoint gave no access token")
    if not endpoints.issuer:
        return Granted(access_token, {})
    token = tokens.get("id_token")
    if not isinstance(token, str) or not 0 < len(token) <= _LONGEST_TOKEN:
        raise ProviderError("the provider's token endpoint gave no ID token")
    return Granted(access_token, _verified(token, access_token, endpoints, config, secrets.nonce))


def _verified(
    token: str, access_token: str, endpoints: Endpoints, config: Config, nonce: str
) -> Mapping[str, Any]:
    """Return the claims of an ID token (OpenID Connect Core 3.1.3.7)."""
    try:
        decoded = jwt.decode(token, _keys_for(token, endpoints.jwks), algorithms=_ALGORITHMS)
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
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        # The libraries refuse what is wrong, and stumble over what is absurd. Both are no ID token.
        raise ProviderError("the provider's ID token cannot be believed") from None
    return dict(claims)


def _issuer(endpoints: Endpoints, claims: Mapping[str, Any]) -> str:
    if not _is_template(endpoints.issuer):
        return endpoints.issuer
    return endpoints.issuer.replace("{tenantid}", str(UUID(claims["tid"])))


def _is_template(issuer: str) -> bool:
    return "{tenantid}" in issuer


def _keys_for(token: str, url: str) -> KeySet:
    """Return the provider's keys; newer ones when it signed with one that we have not seen."""
    kid = extract_compact(token.encode()).headers().get("kid")
    keys = _keys(url, _moment(_KEPT_SECONDS))
    if kid is not None and kid not in {key.kid for key in keys.keys}:
        keys = _keys(url, _moment(_FRESH_SECONDS))
    return keys


@lru_cache(maxsize=256)
def _keys(url: str, moment: tuple[int, int]) -> KeySet:
    answer = web.get(url)
    listed = answer.json().get("keys")
    if not answer.ok or not isinstance(listed, list):
        raise ProviderError("the provider does not publish its keys")
    usable = []
    for key in listed:
        try:
            usable += KeySet.import_key_set({"keys": [key]}).keys
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            continue  # of a kind that we do not know, which RFC 7517 section 5 says to ignore
    return KeySet(usable)


def _moment(seconds: int) -> tuple[int, int]:
    """Return what stays the same for so many seconds."""
    return seconds, int(time.monotonic() // seconds)
