"""What a limit and a lock are, and which there are, with the numbers of the settings."""

from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from identity.core import keyring

# For how many seconds a lock holds: with each further failure for twice as long, an hour at most.
SPANS: Final = (60, 120, 240, 480, 960, 1920, 3600)
_WINDOW: Final = settings.LIMIT_ADDRESS_SECONDS
_PURPOSE: Final = "limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """So many in so many seconds."""

    kind: str
    most: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Lock:
    """So many failures in so many seconds lock, for the spans above. The first failure of all never locks."""

    kind: str
    failures: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Try:
    """One more of what a limit or a lock counts. What it is, the key, is known by its keyed hash alone."""

    rule: Limit | Lock
    key: str
    key_hash: str = field(init=False)

    def __post_init__(self) -> None:
        hashed = keyring.digest(f"{self.rule.kind} {self.key}", purpose=_PURPOSE)
        object.__setattr__(self, "key_hash", hashed)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which try was one too many, and for how many seconds there will be no other."""

    refused: Try
    seconds: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How many there were in the window so far, and how many seconds are left of it."""

    count: int
    seconds: int


REGISTRATIONS: Final = Limit("address registers", settings.LIMIT_ADDRESS_REGISTRATIONS, _WINDOW)
CODE_SENDS: Final = Limit("address sends", settings.LIMIT_ADDRESS_CODE_SENDS, _WINDOW)
SIGN_INS: Final = Limit("address signs in", settings.LIMIT_ADDRESS_SIGN_INS, _WINDOW)

# One application at one address.
CLIENT_FAILURES: Final = Limit("client failures", settings.LIMIT_CLIENT_FAILURES, _WINDOW)

# All failed token and revocation requests of an address that anybody can make. The first ones are
# recorded one by one, the others once a minute.
TOKEN_FAILURES: Final = Limit("token failures", settings.LIMIT_ADDRESS_TOKEN_FAILURES, _WINDOW)
TOKEN_FAILURES_RECORDED: Final = settings.LIMIT_ADDRESS_TOKEN_FAILURES_RECORDED
SUMMARIES: Final = Limit("failure summaries", 1, 60)

# Authorization requests that wait for a person, of browsers that are new here and of others.
PARKED_WITHOUT_COOKIE: Final = Limit(
    "new parked requests", settings.LIMIT_ADDRESS_NEW_PARKED_REQUESTS, _WINDOW
)
PARKED: Final = Limit("parked requests", settings.LIMIT_ADDRESS_PARKED_REQUESTS, _WINDOW)

# One identifier, whoever asks.
CODE_PAUSE: Final = Limit("code pause", 1, 60)
CODES: Final = Limit("codes", 10, 3600)

# The whole tenant: a bill that somebody else runs up, number by number, has an end.
TEXT_MESSAGES: Final = Limit("text messages", settings.LIMIT_TENANT_TEXT_MESSAGES, 3600)

PAIR: Final = Lock("pair", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
IDENTIFIER: Final = Lock("identifier", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS)
# Whoever guesses here knows the password, and may come from anywhere.
SECOND_STEP: Final = Lock("second step", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
ADMINISTRATOR: Final = Lock("administrator", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
