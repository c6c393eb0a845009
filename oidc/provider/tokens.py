"""Building and reading access and ID tokens."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from database.batching import Work
from identity.core import tenancy
from identity.encryption import keyring
from identity.users.models import User
from oidc.keys import active_keys, jws, signing
from oidc.keys.algorithms import SIGNERS
from oidc.keys.jws import InvalidToken, Parsed
from oidc.keys.models import SigningKey
from oidc.provider import claims, released_claims
from oidc.provider.grant_context import GrantContext

# RFC 9068 section 2.1: different types, so that neither token is accepted as the other.
ACCESS_TOKEN_TYPE: Final = "at+jwt"  # noqa: S105 - a media type
ID_TOKEN_TYPE: Final = "JWT"  # noqa: S105 - a media type
USERINFO_TYPE: Final = "userinfo+jwt"
# In tokens of third-party applications: the consent that they depend on, and a keyed hash of the user's
# epoch. A change of the password changes the epoch, and so ends these tokens (decision N2).
CONSENT: Final = "consent_id"
EPOCH: Final = "epoch_hash"
_PLAIN_EPOCH: Final = "user_epoch"
_REQUESTED: Final = "userinfo_claims"
_OF_ONE_TOKEN: Final = frozenset(("iat", "exp", "jti"))
_LAST_SECOND: Final = 253_402_300_799  # the end of the year 9999, the last that datetime supports


def build_access_token(context: GrantContext) -> str:
    """Return the access token as a JWT (RFC 9068)."""
    return signing.sign(
        build_access_claims(context), typ=ACCESS_TOKEN_TYPE, key_id=context.access_token_key_id
    )


def build_access_claims(context: GrantContext) -> dict[str, Any]:
    """Return the claims of an access token."""
    body: dict[str, Any] = released_claims.get_for_access_token(context) | {
        "iss": context.issuer,
        "sub": context.subject,
        "aud": context.target.audience,
        "client_id": context.application.client_id,
        # The name that ID tokens use (OpenID Connect Core section 2). Some libraries read no ``client_id``.
        "azp": context.application.client_id,
        "iat": context.issued_at,
        "exp": context.access_token_exp,
        "jti": context.token_id,
        "scope": " ".join(context.all_scopes),
    }
    if context.user is None:
        body["token_type"] = "m2m"  # noqa: S105 - a kind of token
    elif context.family_id is not None:
        body["family_id"] = str(context.family_id)
    elif context.sign_in is not None:
        body["sid"] = str(context.sign_in.session_id)
    if context.sign_in is not None and context.sign_in.acr:
        body |= context.sign_in.claims  # RFC 9068 section 2.2.1
    if beyond_scopes := [
        name for name in context.claims.userinfo if name not in claims.get_names(context.scopes)
    ]:
        body[_REQUESTED] = beyond_scopes
    if context.target.organization_id is not None:
        body["organization_id"] = str(context.target.organization_id)
        if context.user is not None:
            body["organization_is_admin"] = context.target.organization_is_admin
    if context.user is not None and context.target.consent_id is not None:
        body[CONSENT] = str(context.target.consent_id)
        body[EPOCH] = _epoch_hash(context.token_id, context.user)
    return body


def build_lasting_access_claims(context: GrantContext) -> dict[str, Any]:
    """Return the claims of an access token that do not differ in each token."""
    return {name: value for name, value in build_access_claims(context).items() if name not in _OF_ONE_TOKEN}


def read_access_token(token: str) -> Parsed:
    """Return an access token that a key of this tenant signed, with all required claims.

    Raises:
        InvalidToken: the signature is wrong, the token has another type, or a claim is missing or malformed.

    """
    parsed = signing.verify(token, typ=ACCESS_TOKEN_TYPE)
    texts = [parsed.claims.get(name) for name in ("iss", "sub", "client_id", "jti", "scope")]
    times = [parsed.claims.get("iat"), parsed.claims.get("exp"), parsed.claims.get("nbf", 0)]
    texts += get_audiences(parsed.claims)
    if not all(isinstance(text, str) and text.isprintable() for text in texts):
        raise InvalidToken("a claim is missing or is not a text")
    if not all(type(moment) is int and 0 <= moment <= _LAST_SECOND for moment in times):
        raise InvalidToken("a time is missing or is not a number of seconds")
    return parsed


def has_current_epoch(claims: Mapping[str, Any], user: User) -> bool:
    """Return whether a third party's token was issued after the user's last change of password.

    A token of release 0.1.0, or of an application that was first-party, has no epoch and counts as
    current. A token of release 0.1.1 has the epoch itself.
    """
    hashed = claims.get(EPOCH)
    if hashed is None:
        return bool(claims.get(_PLAIN_EPOCH, user.epoch) == user.epoch)
    return isinstance(hashed, str) and keyring.matches(_epoch(claims["jti"], user), hashed, purpose=EPOCH)


def get_requested_claims(token_claims: Mapping[str, Any]) -> set[str]:
    """Return the claims that an access token releases besides those of its scopes."""
    names = token_claims.get(_REQUESTED)
    if not isinstance(names, list):
        return set()
    return {name for name in names if isinstance(name, str) and name in claims.SCOPE_OF}


def get_audiences(claims: Mapping[str, Any]) -> list[Any]:
    """Return the audiences of a token; ``aud`` is a string or a list (RFC 7519 section 4.1.3)."""
    audience = claims.get("aud")
    return audience if isinstance(audience, list) else [audience]


def build_id_token(context: GrantContext, access_token: str) -> str:
    """Return the ID token (OpenID Connect Core section 2) that goes with an access token."""
    if context.user is None or context.sign_in is None or context.id_token_key_id is None:
        raise ValueError("an ID token needs a user, a sign-in and a key")
    body: dict[str, Any] = build_lasting_id_claims(context) | {
        "iat": context.issued_at,
        "exp": context.id_token_exp,
        "sid": str(context.sign_in.session_id),
        "at_hash": _half_hash(access_token, signing.get_algorithm(context.id_token_key_id)),
    }
    body |= context.sign_in.claims
    if context.nonce:
        body["nonce"] = context.nonce
    return signing.sign(body, typ=ID_TOKEN_TYPE, key_id=context.id_token_key_id)


def build_userinfo_token(body: dict[str, Any], *, client_id: str, algorithm: str) -> Work[str]:
    """Return signed userinfo (OpenID Connect Core 5.3.2). Its type differs from that of an ID token.

    Raises:
        SigningKey.DoesNotExist: the tenant has no active key of this algorithm.

    """
    key_id = yield from active_keys.find_id(algorithm)
    if key_id is None:
        raise SigningKey.DoesNotExist
    body = body | {"iss": tenancy.active().issuer, "aud": client_id}
    return signing.sign(body, typ=USERINFO_TYPE, key_id=key_id)


def build_lasting_id_claims(context: GrantContext) -> dict[str, Any]:
    """Return the claims of an ID token that are not about the sign-in or the time."""
    return released_claims.get_for_id_token(context) | {
        "iss": context.issuer,
        "sub": context.subject,
        "aud": context.application.client_id,
    }


def _epoch_hash(token_id: str, user: User) -> str:
    """Return a hash of the epoch that differs in each token, so that applications cannot compare them."""
    return keyring.digest(_epoch(token_id, user), purpose=EPOCH)


def _epoch(token_id: str, user: User) -> str:
    return f"{token_id} {user.epoch}"


def _half_hash(token: str, algorithm: str) -> str:
    """Return the left half of the hash of a token's text (OpenID Connect Core 3.1.3.6)."""
    digest = hashlib.new(SIGNERS[algorithm].hash_name, token.encode()).digest()
    return jws.encode(digest[: len(digest) // 2])
