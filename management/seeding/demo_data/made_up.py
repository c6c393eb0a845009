"""Made-up values. The same seed and number always give the same values."""

import random
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_GIVEN: Final = (
    *("Ada", "Aiko", "Amina", "Ana", "Ben", "Björn", "Carlos", "Chen", "Chloé", "Dario", "Elif"),
    *("Emma", "Fatima", "Finn", "Grace", "Hana", "Ines", "Ivan", "Jamal", "João", "Kai", "Lea", "Liam"),
    *("Lucía", "Mateo", "Mei", "Mila", "Noah", "Nour", "Olga", "Omar", "Priya", "Ravi", "Rosa"),
    *("Sofía", "Tomáš", "Uma", "Vera", "Wei", "Yara", "Yusuf", "Zoë"),
)
_FAMILY: Final = (
    *("Abe", "Almeida", "Bauer", "Björk", "Brown", "Chen", "Costa", "Diallo", "Dubois", "Evans"),
    *("Fischer", "García", "Haddad", "Hansen", "Ito", "Jansen", "Kaya", "Kim", "Kowalski", "López"),
    *("Martin", "Moreau", "Müller", "Nakamura", "Nguyen", "Novák", "Okafor", "Okoye", "Patel"),
    *("Petrov", "Rossi", "Sato", "Silva", "Singh", "Smith", "Tanaka", "Torres", "Walker", "Wang"),
    *("Weber", "Yildiz", "Zhang"),
)
_PLACES: Final = (
    "Northwind",
    "Lakeside",
    "Summit",
    "Harbour",
    "Meadow",
    "Granite",
    "Juniper",
    "Copper",
    "Maple",
)
_TRADES: Final = (
    "Bakery",
    "Logistics",
    "Clinic",
    "Studio",
    "Energy",
    "Books",
    "Robotics",
    "Travel",
    "Gardens",
)
_DAY: Final = 86_400
_OLDEST: Final = 365 * _DAY
_HISTORY: Final = 90 * _DAY
_SUSPENDED: Final = {5, 11}
_WITH_PHONE: Final = 0.5
_FAILED: Final = 0.12
_METHODS: Final = ("SignIn.Password", "SignIn.VerificationCode", "SignIn.Social")
_BROWSERS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.6 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Mobile/15E148 Safari/604.1",
)
LOCKED: Final = 2  # the number of the user whom failed sign-ins lock


def person(seed: int, number: int) -> dict[str, Any]:
    """Return the fields of a user, with an address at example.com and a fictional phone number (555)."""
    chance = _chance(seed, "person", number)
    given, family = chance.choice(_GIVEN), chance.choice(_FAMILY)
    username = f"{_plain(given)}.{_plain(family)}.{number}"
    has_phone = chance.random() < _WITH_PHONE
    return {
        "username": username,
        "email": f"{username}@example.com",
        "email_verified": chance.random() < 0.8,  # noqa: PLR2004 - most
        "phone": f"+1555{(seed * 1_000_003 + number) % 10_000_000:07d}" if has_phone else "",
        "phone_verified": has_phone,
        "name": f"{given} {family}",
        "is_suspended": number in _SUSPENDED,
        # Most users are recent, because the tenant grows. The first user exists from the beginning.
        "created_at": _midnight()
        - timedelta(seconds=int(_OLDEST * chance.random() ** 1.7) if number else _OLDEST),
        "custom_data": {"department": chance.choice(("Sales", "Support", "Development", "Finance"))},
    }


def organization(seed: int, number: int) -> dict[str, str]:
    """Return the name and description of an organization."""
    chance = _chance(seed, "organization", number)
    trade = chance.choice(_TRADES)
    return {
        "name": f"{chance.choice(_PLACES)} {trade} {number}",
        "description": f"A made-up customer in {trade.lower()}.",
    }


def members(seed: int, number: int, people: int) -> list[int]:
    """Return the numbers of an organization's members. The first is its administrator."""
    chance = _chance(seed, "members", number)
    return chance.sample(range(people), min(people, chance.randint(3, 12)))


def sign_in(seed: int, number: int, people: int) -> dict[str, Any]:
    """Return a sign-in: the user's number, the method, the result, the origin, and how long ago it was.

    ``ago`` is a share of the time for which the user exists, at most 90 days. ``refreshes`` is how many
    times the application then refreshed its tokens.
    """
    chance = _chance(seed, "sign_in", number)
    failed = chance.random() < _FAILED
    method = chance.choices(_METHODS, (70, 20, 10))[0]
    return {
        "person": chance.randrange(people) if people else None,
        "method": _METHODS[0] if failed else method,
        "result": "failed" if failed else "success",
        "error": "invalid_credentials" if failed else None,
        "ago": chance.random() ** 1.3,
        # RFC 5737 reserves these addresses for examples.
        "ip": f"192.0.2.{chance.randrange(1, 255)}",
        "browser": chance.choice(_BROWSERS),
        "application": chance.randrange(100),
        "refreshes": chance.choice((0, 0, 1, 2, 3)),
    }


def history_of(created_at: datetime, now: datetime) -> timedelta:
    """Return for how long a user may have signed in."""
    return min(now - created_at, timedelta(seconds=_HISTORY))


def _midnight() -> datetime:
    """Return the beginning of today, so that the same seed gives the same times all day."""
    return datetime.now(tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _chance(seed: int, what: str, number: int) -> random.Random:
    return random.Random(f"{seed}:{what}:{number}")  # noqa: S311 - nothing here is a secret


def _plain(name: str) -> str:
    """Return a name in lower-case ASCII, for a username."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return letters.lower()
