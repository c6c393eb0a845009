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
_BEGINNING: Final = datetime(2025, 1, 1, tzinfo=UTC)
_SUSPENDED: Final = 0.02
_WITH_PHONE: Final = 0.5
_FAILED: Final = 0.15


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
        "is_suspended": chance.random() < _SUSPENDED,
        "created_at": _BEGINNING + timedelta(seconds=chance.randrange(365 * 86_400)),
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
    """Return a sign-in: the user's number, the result, the address, and how many seconds ago it was."""
    chance = _chance(seed, "sign_in", number)
    failed = chance.random() < _FAILED
    return {
        "person": chance.randrange(people) if people else None,
        "result": "failed" if failed else "success",
        "error": "invalid_credentials" if failed else None,
        "seconds_ago": chance.randrange(30 * 86_400),
        # RFC 5737 reserves these addresses for examples.
        "ip": f"192.0.2.{chance.randrange(1, 255)}",
    }


def _chance(seed: int, what: str, number: int) -> random.Random:
    return random.Random(f"{seed}:{what}:{number}")  # noqa: S311 - nothing here is a secret


def _plain(name: str) -> str:
    """Return a name in lower-case ASCII, for a username."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return letters.lower()
