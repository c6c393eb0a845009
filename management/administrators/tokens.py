"""Administrator tokens: HS256, valid for the management API only."""

import time
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import orjson
from django.conf import settings
from jwcrypto.common import JWException, base64url_decode, json_decode
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from identity.core import tenancy
from identity.core.tenant_statements import Select, number, text
from identity.encryption import keyring
from management.administrators import second_step
from management.administrators.models import Administrator

_PURPOSE: Final = "administrator tokens"
_TYPE: Final = "admin+jwt"
_MAX_LENGTH: Final = 2048
_MAX_ID: Final = 2**63 - 1  # of the id column
_ADMINISTRATOR: Final = Select(
    lambda: Administrator.objects.with_tenant_access(text("tenant_id")).filter(pk=number("pk"))[:1]
)


class InvalidToken(Exception):
    """The text is not a valid administrator token, or its administrator was deleted."""


def issue(administrator: Administrator) -> str:
    """Return a token that is valid for ``ADMINISTRATOR_TOKEN_SECONDS``."""
    now = int(time.time())
    kid = keyring.current_id()
    claims = {
        "iss": settings.BASE_URL,
        "sub": str(administrator.pk),
        "iat": now,
        "exp": now + settings.ADMINISTRATOR_TOKEN_SECONDS,
        # A new password or second step ends earlier tokens, and so do other rights.
        "pwd": _fingerprint(administrator, kid),
    }
    token = JWS(orjson.dumps(claims))
    token.add_signature(_key(kid), protected={"alg": "HS256", "typ": _TYPE, "kid": kid})
    return str(token.serialize(compact=True))


def is_of_administrator(token: str) -> bool:
    """Return whether a token is an administrator's, according to its unverified header."""
    header = token.partition(".")[0]
    try:
        return bool(json_decode(base64url_decode(header)).get("alg") == "HS256")
    except (ValueError, AttributeError):
        return False


def get_administrator(token: str) -> Administrator:
    """Return the administrator of a token, with access to the active tenant, in one query.

    Raises:
        InvalidToken: the token is forged, expired or of another kind, or ended early.

    """
    try:
        kid, claims = _verify(token, tuple(settings.ENCRYPTION_KEYS.items()))
        subject, fingerprint = int(claims["sub"]), claims["pwd"]
        is_refused = claims["exp"] <= time.time() or claims["iss"] != settings.BASE_URL
    except (JWException, keyring.UnknownKey, KeyError, TypeError, ValueError):
        raise InvalidToken from None
    if not 0 < subject <= _MAX_ID:
        raise InvalidToken
    administrator = _ADMINISTRATOR.first(pk=subject, tenant_id=tenancy.active_id())
    if is_refused or administrator is None or fingerprint != _fingerprint(administrator, kid):
        raise InvalidToken
    if second_step.is_missing(administrator):
        raise InvalidToken
    administrator.signed_in_at = float(claims.get("iat", 0))
    return administrator


@lru_cache(maxsize=1024)
def _verify(token: str, ring: tuple[tuple[str, bytes], ...]) -> tuple[str, Mapping[str, Any]]:
    """Return the key id and the claims of a token with a valid signature. The claims are not checked.

    A signature is verified once per token and key ring. Failures are not cached.
    """
    if len(token) > _MAX_LENGTH or token.count(".") != 2:  # noqa: PLR2004 - RFC 7515 section 3.1
        raise InvalidToken
    parsed = JWS()
    parsed.allowed_algs = ["HS256"]
    parsed.deserialize(token)
    header = parsed.jose_header
    # RFC 7515 section 4.1.11: a token that names an unknown extension is refused, and we know none.
    if header.get("typ") != _TYPE or "crit" in header:
        raise InvalidToken
    kid = str(header.get("kid"))
    parsed.verify(_key(kid))
    claims: dict[str, Any] = orjson.loads(parsed.payload)
    return kid, MappingProxyType(claims)


def _key(kid: str) -> JWK:
    return JWK.from_password(keyring.subkey(_PURPOSE, kid).hex())


def _fingerprint(administrator: Administrator, kid: str) -> str:
    return keyring.mac(administrator.proofs, purpose="administrator passwords", key_id=kid).hex()[:16]
