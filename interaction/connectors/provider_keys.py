"""The keys of OpenID providers, and the choice of the key that must have signed an ID token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_noop
from joserfc import jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import ECKey, RSAKey, import_key
from joserfc.jws import extract_compact
from joserfc.jwt import Token

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.outbound import web
from interaction.connectors.tenant_cache import TenantCache
from interaction.connectors.time_window import get_time_window

# Only asymmetric signatures, each with the ``kty`` and the curve of its keys (RFC 7518 section 3.1).
_KINDS: Final[Mapping[object, tuple[str, str | None]]] = {
    **{f"{kind}{bits}": ("RSA", None) for kind in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
}
# What is kept of a key. Certificates and unknown members would only take memory.
_MEMBERS: Final = frozenset({"kty", "crv", "x", "y", "n", "e", "alg", "use", "kid", "key_ops"})
_MAX_BYTES: Final = 64 * 1024  # of a key set
_MAX_KEYS: Final = 50
_KEPT_SECONDS: Final = 300
_REFETCH_SECONDS: Final = 10
# The reasons of errors that do not occur with a newer set of keys.
_REFETCH_REASONS: Final = frozenset({Reason.NO_SUCH_KEY, Reason.SIGNATURE})


@dataclass(frozen=True, slots=True, eq=False)
class _PublishedKey:
    """The members of a published key that are needed, and the key as the library reads it."""

    members: Mapping[str, Any]
    key: RSAKey | ECKey

    def fits(self, alg: object) -> bool:
        """Return whether the key can verify signatures of this algorithm, and its members agree."""
        kty, curve = _KINDS[alg]
        return (
            self.members["kty"] == kty
            and (curve is None or self.members.get("crv") == curve)
            and self.members.get("alg", alg) == alg
            and self.members.get("use", "sig") == "sig"
        )


_Keys = tuple[_PublishedKey, ...]
_cache: Final = TenantCache[tuple[str, int], _Keys]()


def verify(token: str, url: str) -> Token:
    """Return a token whose signature is verified with one of the keys that are published at a URL.

    If no key fits, or the signature does not match, the keys are fetched again, but for a tenant in each
    process only about once in ten seconds.

    Raises:
        ProviderError: the token has no valid signature, or the keys cannot be fetched.

    """
    headers = extract_compact(token.encode()).headers()
    if headers.get("alg") not in _KINDS:
        raise ProviderError(
            gettext_noop("the provider's ID token is not signed as it must be"), Reason.SIGNATURE
        )
    kept = _get_keys(url, _KEPT_SECONDS)
    try:
        return _decode(token, headers, kept)
    except ProviderError as error:
        if error.reason not in _REFETCH_REASONS:
            raise
    return _decode(token, headers, _get_keys(url, _REFETCH_SECONDS))


def _decode(token: str, headers: Mapping[str, Any], keys: _Keys) -> Token:
    alg = headers["alg"]
    try:
        return jwt.decode(token, _choose(keys, alg, headers.get("kid")).key, algorithms=[alg])
    except BadSignatureError:
        raise ProviderError(
            gettext_noop("the signature of the provider's ID token is wrong"), Reason.SIGNATURE
        ) from None


def _choose(keys: _Keys, alg: object, kid: object) -> _PublishedKey:
    """Return the key with this id, or without an id the only one that fits the algorithm.

    OpenID Connect Core 10.1: if there are several keys, the token MUST have a ``kid``.
    """
    fitting = [key for key in keys if key.fits(alg) and (kid is None or key.members.get("kid") == kid)]
    if not fitting:
        raise ProviderError(
            gettext_noop("the provider publishes no key for its ID token"), Reason.NO_SUCH_KEY
        )
    if len(fitting) > 1:
        raise ProviderError(
            gettext_noop("the provider publishes several keys that its ID token may mean"),
            Reason.SEVERAL_KEYS,
        )
    return fitting[0]


def _get_keys(url: str, seconds: int) -> _Keys:
    return _cache.get((url, seconds), get_time_window(seconds), lambda: _fetch_keys(url))


def _fetch_keys(url: str) -> _Keys:
    response = web.get(url)
    if len(response.body) > _MAX_BYTES:
        rule = fill(gettext_noop("must have at most %(count)s KiB"), count=_MAX_BYTES // 1024)
        raise ProviderError(fill("jwks_uri: %(rule)s", rule=rule))
    key_list = response.json().get("keys")
    if not response.ok or not isinstance(key_list, list):
        raise ProviderError(gettext_noop("the provider does not publish its keys"))
    if len(key_list) > _MAX_KEYS:
        rule = fill(gettext_noop("at most %(count)s at once"), count=_MAX_KEYS)
        raise ProviderError(fill("jwks_uri, keys: %(rule)s", rule=rule))
    usable = []
    for published in key_list:
        try:
            members = {name: value for name, value in published.items() if name in _MEMBERS}
            key = import_key(members)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            continue  # RFC 7517 section 5: ignore keys of unknown types
        if isinstance(key, RSAKey | ECKey):
            usable.append(_PublishedKey(members, key))
    return tuple(usable)
