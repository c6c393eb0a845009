"""What a limit and a lock are, and which there are, with the numbers of the settings."""

from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from identity.encryption import keyring

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

_HOUR: Final = 3600

# Codes to one identifier: for one purpose from one network, from one network, and from all of them.
CODE_PAUSE: Final = Limit("code pause", 1, settings.LIMIT_CODE_PAUSE_SECONDS)
CODES: Final = Limit("codes", settings.LIMIT_NETWORK_CODES, _HOUR)
CODES_FROM_ANYWHERE: Final = Limit("codes from anywhere", settings.LIMIT_IDENTIFIER_CODES, _HOUR)
# A browser that signed this person in before, instead of CODES_FROM_ANYWHERE.
CODES_KNOWN_BROWSER: Final = Limit("codes known browser", settings.LIMIT_NETWORK_CODES, _HOUR)

# Wrong codes from one network, for one identifier, and in the whole tenant. Only the first is refused:
# beyond the others, codes are longer.
WRONG_CODES: Final = Limit("wrong codes", settings.LIMIT_ADDRESS_WRONG_CODES, _HOUR)
IDENTIFIER_WRONG_CODES: Final = Limit(
    "wrong codes of identifier", settings.LIMIT_IDENTIFIER_WRONG_CODES, 24 * _HOUR
)
TENANT_WRONG_CODES: Final = Limit("wrong codes of tenant", settings.LIMIT_TENANT_WRONG_CODES, _HOUR)

# The whole tenant: a bill that somebody else runs up, number by number, has an end.
TEXT_MESSAGES: Final = Limit("text messages", settings.LIMIT_TENANT_TEXT_MESSAGES, _HOUR)

# One connector.
CONNECTOR_TESTS: Final = Limit("connector tests", settings.LIMIT_CONNECTOR_TESTS, _WINDOW)

# One application of the members API: joining by phone tells who has the number.
MEMBER_JOINS: Final = Limit("member joins", settings.LIMIT_MEMBER_JOINS, 3600)

PAIR: Final = Lock("pair", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
IDENTIFIER: Final = Lock("identifier", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS)
# A browser that signed this person in before, instead of IDENTIFIER.
KNOWN_BROWSER: Final = Lock(
    "known browser", settings.LOCK_KNOWN_BROWSER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS
)
# Whoever guesses here knows the password, and may come from anywhere.
SECOND_STEP: Final = Lock("second step", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
ADMINISTRATOR: Final = Lock("administrator", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
ADMINISTRATOR_FROM_ANYWHERE: Final = Lock(
    "administrator from anywhere", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS
)
# An address from which this administrator signed in passes the lock before, for so long.
ADMINISTRATOR_ADDRESS: Final = Limit("administrator was here", 1, settings.ADMIN_KNOWN_ADDRESS_SECONDS)
