"""The limits and locks of Gatehouse. Their numbers are settings."""

from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from identity.encryption import keyring

# Seconds of the first lock and, with each further failure, of the next one. The last value repeats.
LOCK_SECONDS: Final = (60, 120, 240, 480, 960, 1920, 3600)
MAX_ACTIVE_LOCKS: Final = 100  # the number of locks of one user that are read
_WINDOW: Final = settings.LIMIT_ADDRESS_SECONDS
_PURPOSE: Final = "limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``max_hits`` hits in a window of ``seconds``."""

    kind: str
    max_hits: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock after ``failures`` in a window of ``seconds``, for ``LOCK_SECONDS``. One failure never locks."""

    kind: str
    failures: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One event that a limit or a lock counts. Only keyed hashes of the key and the group are stored.

    The locks of a group, such as all locks of one identifier, can be read and cleared without their keys.
    """

    rule: Limit | Lock
    key: str
    group: str = ""
    key_hash: str = field(init=False)
    group_hash: str | None = field(init=False)

    def __post_init__(self) -> None:
        hashed = keyring.digest(f"{self.rule.kind} {self.key}", purpose=_PURPOSE)
        object.__setattr__(self, "key_hash", hashed)
        object.__setattr__(self, "group_hash", hash_group(self.group) if self.group else None)


def hash_group(group: str) -> str:
    """Return the keyed hash by which the locks of a group are found."""
    key_id = keyring.current_id()
    # Half of the hash is enough to distinguish groups.
    return f"{key_id}.{keyring.mac(f'group {group}', purpose=_PURPOSE, key_id=key_id)[:16].hex()}"


@dataclass(frozen=True, slots=True)
class ActiveLock:
    """A lock that refuses attempts now: the hash of its key, and the seconds until it ends."""

    key_hash: str
    resets_in: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """The hit that was refused, and the seconds until its counter allows another one."""

    hit: Hit
    resets_in: int


@dataclass(frozen=True, slots=True)
class Window:
    """The hits counted in the current window, and the seconds until it ends."""

    count: int
    resets_in: int


REGISTRATIONS: Final = Limit("address registers", settings.LIMIT_ADDRESS_REGISTRATIONS, _WINDOW)
CODE_SENDS: Final = Limit("address sends", settings.LIMIT_ADDRESS_CODE_SENDS, _WINDOW)
SIGN_INS: Final = Limit("address signs in", settings.LIMIT_ADDRESS_SIGN_INS, _WINDOW)

# One application in one network.
CLIENT_FAILURES: Final = Limit("client failures", settings.LIMIT_CLIENT_FAILURES, _WINDOW)

# Failed token and revocation requests of a network, without a proven client. The first ones get an
# audit entry each, the others one a minute.
TOKEN_FAILURES: Final = Limit("token failures", settings.LIMIT_ADDRESS_TOKEN_FAILURES, _WINDOW)
TOKEN_FAILURES_RECORDED: Final = settings.LIMIT_ADDRESS_TOKEN_FAILURES_RECORDED
SUMMARIES: Final = Limit("failure summaries", 1, 60)

# Authorization requests that wait for a sign-in, from browsers without our cookie and from all others.
PARKED_WITHOUT_COOKIE: Final = Limit(
    "new parked requests", settings.LIMIT_ADDRESS_NEW_PARKED_REQUESTS, _WINDOW
)
PARKED: Final = Limit("parked requests", settings.LIMIT_ADDRESS_PARKED_REQUESTS, _WINDOW)

_HOUR: Final = 3600

# Codes to one identifier: for one purpose from one network, from one network, and from all networks.
CODE_PAUSE: Final = Limit("code pause", 1, settings.LIMIT_CODE_PAUSE_SECONDS)
CODES: Final = Limit("codes", settings.LIMIT_NETWORK_CODES, _HOUR)
CODES_FROM_ANYWHERE: Final = Limit("codes from anywhere", settings.LIMIT_IDENTIFIER_CODES, _HOUR)
# Codes of a second step, which only a person gets who has proven the first factor. Replaces
# CODES_FROM_ANYWHERE, so that strangers cannot use it up.
CODES_SECOND_STEP: Final = Limit("codes second step", settings.LIMIT_IDENTIFIER_CODES, _HOUR)
# A browser in which this user signed in before, and all such browsers together. They replace
# CODES_FROM_ANYWHERE and CODES_SECOND_STEP. The user can make any number of known browsers, so one limit for
# each would not bound the costs.
CODES_KNOWN_BROWSER: Final = Limit("codes known browser", settings.LIMIT_NETWORK_CODES, _HOUR)
CODES_KNOWN_BROWSERS: Final = Limit("codes known browsers", settings.LIMIT_IDENTIFIER_CODES, _HOUR)

# Wrong codes from one network, for one identifier, and in the whole tenant. Only the first refuses;
# beyond the others, codes are longer.
WRONG_CODES: Final = Limit("wrong codes", settings.LIMIT_ADDRESS_WRONG_CODES, _HOUR)
IDENTIFIER_WRONG_CODES: Final = Limit(
    "wrong codes of identifier", settings.LIMIT_IDENTIFIER_WRONG_CODES, 24 * _HOUR
)
TENANT_WRONG_CODES: Final = Limit("wrong codes of tenant", settings.LIMIT_TENANT_WRONG_CODES, _HOUR)

# The whole tenant: a limit on the costs that an attacker with many numbers can cause.
TEXT_MESSAGES: Final = Limit("text messages", settings.LIMIT_TENANT_TEXT_MESSAGES, _HOUR)
# The same counter with a lower limit: all other codes and notices leave the rest to second steps and to
# browsers in which the user signed in before.
TENANT_TEXT_CODES: Final = Limit(
    TEXT_MESSAGES.kind, max(1, settings.LIMIT_TENANT_TEXT_MESSAGES * 3 // 4), _HOUR
)
# The notices among them, which users cause by changes of their own accounts. The rest is left for codes.
TENANT_TEXT_NOTICES: Final = Limit("text notices", max(1, settings.LIMIT_TENANT_TEXT_MESSAGES // 2), _HOUR)

# Notices to one email or phone.
EMAIL_NOTICES: Final = Limit("notices to email", 30, _HOUR)
TEXT_NOTICES: Final = Limit("notices to phone", 10, _HOUR)

# One connector, and all connectors of the tenant.
CONNECTOR_TESTS: Final = Limit("connector tests", settings.LIMIT_CONNECTOR_TESTS, _WINDOW)
TENANT_CONNECTOR_TESTS: Final = Limit(
    "connector tests of tenant", settings.LIMIT_TENANT_CONNECTOR_TESTS, _WINDOW
)

# One application of the members API: joining by phone reveals whether an account has the number.
MEMBER_JOINS: Final = Limit("member joins", settings.LIMIT_MEMBER_JOINS, _HOUR)

# Changes of the own profile by one user.
PROFILE_CHANGES: Final = Limit("profile changes", settings.LIMIT_PROFILE_CHANGES, _HOUR)

PAIR: Final = Lock("pair", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
IDENTIFIER: Final = Lock("identifier", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS)
# A browser in which this user signed in before. Replaces IDENTIFIER.
KNOWN_BROWSER: Final = Lock(
    "known browser", settings.LOCK_KNOWN_BROWSER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS
)
# No network in the key: the attacker knows the password already and may use many networks.
SECOND_STEP: Final = Lock("second step", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
# The same for users: codes of authenticators, backup codes and mailed codes together.
SECOND_FACTOR: Final = Lock(
    "second factor", settings.LOCK_SECOND_FACTOR_FAILURES, settings.LOCK_SECOND_FACTOR_SECONDS
)
# Notices to one user that codes are locked.
FACTOR_LOCK_NOTICES: Final = Limit("second factor notices", 1, 24 * _HOUR)
ADMINISTRATOR: Final = Lock("administrator", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
ADMINISTRATOR_FROM_ANYWHERE: Final = Lock(
    "administrator from anywhere", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS
)
# Links that are sent to one address of administrators: asked for from one network, and from all networks.
RECOVERIES: Final = Limit("admin recoveries", settings.LIMIT_NETWORK_CODES, _HOUR)
RECOVERIES_FROM_ANYWHERE: Final = Limit(
    "admin recoveries from anywhere", settings.LIMIT_IDENTIFIER_CODES, _HOUR
)
# For this many seconds after a sign-in, ADMINISTRATOR_FROM_ANYWHERE does not apply to the network.
ADMINISTRATOR_NETWORK: Final = Limit("administrator was here", 1, settings.ADMIN_KNOWN_ADDRESS_SECONDS)
