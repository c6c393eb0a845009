"""Who is signed in, kept in this process's memory.

Tokens stay on the server: a cookie is too small for them and the browser has no
use for them. The cookie carries a random id, nothing else. A real application
keeps the same rows in its database or cache, so that they survive a restart.
"""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

MOST_SIGN_INS = 1000
MOST_PAST_GENERATIONS = 10


@dataclass(frozen=True)
class Generation:
    """The tokens of one answer from the token endpoint, with the claims verified."""

    number: int
    tokens: dict[str, Any]
    claims: dict[str, Any]
    obtained_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class PastGeneration:
    """What is remembered of tokens that were replaced: never the tokens."""

    number: int
    obtained_at: datetime
    replaced_at: datetime
    refresh_token_ending: str


@dataclass
class SignIn:
    """One person signed in in one browser."""

    current: Generation
    past: list[PastGeneration] = field(default_factory=list)
    userinfo: dict[str, Any] | None = None
    userinfo_error: str = ""

    @property
    def display_name(self) -> str:
        """The best name the ID token offers."""
        claims = self.current.claims
        offered = (claims.get(name) for name in ("name", "username", "email"))
        return str(next(filter(None, offered), claims["sub"]))

    def replace_tokens(self, tokens: dict[str, Any], claims: dict[str, Any]) -> None:
        """Move on to the next generation of tokens."""
        old = self.current
        self.current = Generation(number=old.number + 1, tokens=tokens, claims=claims)
        past = PastGeneration(
            number=old.number,
            obtained_at=old.obtained_at,
            replaced_at=self.current.obtained_at,
            refresh_token_ending=str(old.tokens.get("refresh_token", ""))[-6:],
        )
        self.past = [past, *self.past][:MOST_PAST_GENERATIONS]


class SignIns:
    """A bounded, thread-safe store; the one unused for longest makes room."""

    def __init__(self, limit: int = MOST_SIGN_INS) -> None:
        """Start empty, and never hold more than `limit`."""
        self._limit = limit
        self._items: OrderedDict[str, SignIn] = OrderedDict()
        self._lock = Lock()

    def add(self, sign_in: SignIn) -> str:
        """Store a sign-in and return the random id it is found by."""
        sign_in_id = secrets.token_urlsafe(32)
        with self._lock:
            self._items[sign_in_id] = sign_in
            while len(self._items) > self._limit:
                self._items.popitem(last=False)
        return sign_in_id

    def get(self, sign_in_id: str) -> SignIn | None:
        """Return the sign-in with this id, if there still is one."""
        with self._lock:
            if sign_in_id in self._items:
                self._items.move_to_end(sign_in_id)
            return self._items.get(sign_in_id)

    def remove(self, sign_in_id: str) -> SignIn | None:
        """Forget the sign-in with this id and return what it was."""
        with self._lock:
            return self._items.pop(sign_in_id, None)
