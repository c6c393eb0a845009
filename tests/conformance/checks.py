"""What every module asks of tokens, claims and answers on its way. Independent libraries read the tokens."""

import base64
import hashlib
import math
import time
from collections import Counter
from typing import Any, Final

import jwt
from joserfc import jwt as joserfc_jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from tests.conformance.verdict import Verdict

FIFTY_YEARS: Final = 50 * 365 * 24 * 3600
FIVE_MINUTES: Final = 300
_PRIVATE_MEMBERS: Final = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
# OpenID Connect Core 5.1, with what a value has to be.
STANDARD_CLAIMS: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("sub", "name", "given_name", "family_name", "middle_name", "nickname"), str),
    **dict.fromkeys(("preferred_username", "profile", "picture", "website", "email", "gender"), str),
    **dict.fromkeys(("birthdate", "zoneinfo", "locale", "phone_number"), str),
    **dict.fromkeys(("email_verified", "phone_number_verified"), bool),
    "address": dict,
    "updated_at": (int, float),
}
PROFILE_CLAIMS: Final = [
    *("name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile"),
    *("picture", "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at"),
]
# What an ID token may say of itself and of the sign-in, whatever scopes were asked for.
REGISTERED_CLAIMS: Final = {
    *("iss", "sub", "aud", "exp", "iat", "nbf", "jti", "auth_time", "nonce", "acr", "amr", "azp", "sid"),
    *("at_hash", "c_hash", "s_hash"),
}


def key_set(published: Any, verdict: Verdict) -> None:
    """The keys can be read, are told apart, and are the public halves alone."""
    verdict.must(isinstance(published, dict) and published.get("keys"), "the key set has no keys")
    keys = published["keys"]
    kids = [key.get("kid") for key in keys]
    verdict.must(all(kids) and len(set(kids)) == len(kids), f"keys without ids of their own: {kids}")
    verdict.must(not any(_PRIVATE_MEMBERS & key.keys() for key in keys), "the key set holds private keys")
    try:
        KeySet.import_key_set(published)
    except (JoseError, ValueError) as error:
        verdict.must(holds=False, otherwise=f"the key set cannot be read: {error}")


def entropy(text: str) -> float:
    """The bits of a text by how often each character comes (Shannon)."""
    counts = Counter(text).values()
    return -sum(count * math.log2(count / len(text)) for count in counts)


def unguessable(text: Any, what: str, verdict: Verdict) -> None:
    """At least 128 bits long, 96 of which can be measured (RFC 6749 section 10.10)."""
    verdict.must(isinstance(text, str) and text, f"there is no {what}")
    verdict.must(all("\x20" <= sign <= "\x7e" for sign in text), f"illegal characters in the {what}")
    verdict.must(len(text) * 6 >= 128, f"the {what} is too short")
    verdict.must(entropy(text) >= 96, f"the {what} repeats itself: {entropy(text):.0f} bits")


def verified(token: str, published: Any, verdict: Verdict) -> dict[str, Any]:
    """Return the claims of an ID token that the key of its ``kid`` signed, read by two libraries alike."""
    header = jwt.get_unverified_header(token)
    named = [key for key in published["keys"] if key["kid"] == header.get("kid")]
    verdict.must(len(named) == 1, f"the kid names no key: {header}")
    verdict.must(header["alg"] not in {"none", "HS256"}, f"not signed by a key of the set: {header}")
    try:
        theirs = joserfc_jwt.decode(token, KeySet.import_key_set({"keys": named}), algorithms=[header["alg"]])
        key = jwt.PyJWK.from_dict(named[0])
        claims = jwt.decode(token, key, algorithms=[header["alg"]], options={"verify_aud": False})
    except (JoseError, jwt.InvalidTokenError) as error:
        verdict.must(holds=False, otherwise=f"the ID token does not verify: {error}")
    verdict.must(theirs.claims == claims, "two libraries read two tokens")
    return dict(claims)


def id_token(  # noqa: PLR0913 - what it is held to
    claims: dict[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str | None,
    access_token: str,
    verdict: Verdict,
) -> None:
    """The claims say what OpenID Connect Core section 2 and 3.1.3.7 ask for."""
    now = time.time()
    audience = claims.get("aud")
    verdict.must(claims.get("iss") == issuer, f"iss is {claims.get('iss')}")
    verdict.must(audience in (client_id, [client_id]), f"aud is {audience}")
    verdict.must(claims.get("azp", client_id) == client_id, f"azp is {claims.get('azp')}")
    verdict.must(type(claims.get("exp")) is int, "exp is no number")
    verdict.must(now < claims["exp"] < now + FIFTY_YEARS, f"exp is {claims['exp']}")
    verdict.must(type(claims.get("iat")) is int, "iat is no number")
    verdict.must(now - FIVE_MINUTES < claims["iat"] <= now + 1, f"iat is {claims['iat']}")
    verdict.must(claims.get("nonce") == nonce, f"nonce is {claims.get('nonce')}")
    subject = claims.get("sub")
    verdict.must(isinstance(subject, str) and 0 < len(subject) <= 255 and subject.isascii(), "sub is wrong")
    verdict.must(type(claims.get("auth_time", 0)) is int, "auth_time is no number")
    verdict.must(
        claims.get("at_hash", half_hash(access_token)) == half_hash(access_token), "at_hash is wrong"
    )
    verdict.must(claims.get("acr", "something"), "acr is empty")
    standard(claims, verdict)


def half_hash(text: str) -> str:
    """The left half of the hash that goes with ES256 and RS256 (OpenID Connect Core 3.1.3.6)."""
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()


def standard(claims: dict[str, Any], verdict: Verdict) -> None:
    """No claim is there without a value, and standard claims are of their type."""
    empty = [name for name, value in claims.items() if value in (None, "", [], {})]
    verdict.must(not empty, f"claims without a value: {', '.join(empty)}")
    strange = [
        name
        for name, kind in STANDARD_CLAIMS.items()
        if name in claims
        and (not isinstance(claims[name], kind) or (kind is not bool and isinstance(claims[name], bool)))
    ]
    verdict.must(not strange, f"claims of another type: {', '.join(strange)}")
