"""The secrets that a browser gets with each proof, as its cookie ``gatehouse-proofs`` lists them.

Whenever somebody proves something in a browser (a password, a code, a passkey, a second factor, an account
at a provider) or registers, the browser gets a new secret. What the proof allows is stored with a hash of
this secret, and only a browser that has the secret can use it. So a copy of the browser's cookies from
before the proof opens nothing of it, and no authorization request that begins later. The browser keeps its
last secrets, because what was proven in other tabs still needs them.

Rows without a hash are of release 0.5.0, or from before anything was proven.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from database.list_parameters import TextList, among_texts
from database.parameters import Parameter
from identity.sessions.services import hash_token

_MOST: Final = 8
_LENGTH: Final = 43
MAX_LENGTH: Final = _MOST * (_LENGTH + 1)  # of the cookie


@dataclass(frozen=True, slots=True)
class ProofSecret:
    """A new secret: the token for the cookie of the browser, and the hash that is stored."""

    token: str
    hash: str


def new() -> ProofSecret:
    """Return a new secret (256 bits)."""
    token = secrets.token_urlsafe(32)
    return ProofSecret(token, hash_token(token))


def get_hashes(cookie: str) -> tuple[str, ...]:
    """Return the hashes of the secrets in a cookie, the newest first."""
    return tuple(hash_token(token) for token in _split(cookie))


def add(cookie: str, secret: ProofSecret) -> str:
    """Return the value of the cookie with a new secret, without the oldest beyond eight."""
    return "~".join([secret.token, *_split(cookie)][:_MOST])


def opened_by(proofs: Sequence[str]) -> Q:
    """Return the condition that a row needs no secret, or one of those with these hashes."""
    return Q(secret_hash=None) | Q(secret_hash__in=proofs)


def opened() -> Q:
    """Return the same condition for a compiled statement, with the parameter ``proofs``."""
    return Q(secret_hash=None) | among_texts("secret_hash", Parameter("proofs", TextList()))


def _split(cookie: str) -> list[str]:
    return [token for token in cookie.split("~")[:_MOST] if len(token) == _LENGTH and token.isascii()]
