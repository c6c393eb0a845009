"""The tables of ``find_need`` and ``can_reach``, and what a module answers to their questions."""

import csv
from pathlib import Path
from typing import Any

from identity.factors import needed as decision
from identity.factors.kinds import FactorType
from identity.factors.needed import AvailableFactors, FirstFactor
from identity.factors.policy import Policy, Prompt, SocialRule
from identity.users.identifiers import Kind

_FACTORS = {
    "T": FactorType.TOTP,
    "W": FactorType.WEBAUTHN,
    "B": FactorType.BACKUP_CODE,
    "E": FactorType.EMAIL_CODE,
    "P": FactorType.PHONE_CODE,
}
_BITS = {"W": 1, "T": 2, "B": 4}
_KINDS = {"E": Kind.EMAIL, "P": Kind.PHONE}


_TABLE = Path(__file__).parent.parent / "identity" / "factors" / "needed.tsv"


def read_rows() -> list[dict[str, str]]:
    with _TABLE.open(newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


def letters(cell: str) -> str:
    return "" if cell == "-" else cell


def available(
    has: str, *, two_step: bool = False, has_skipped: bool = False, module: Any = decision
) -> AvailableFactors:
    bits = sum(_BITS.get(letter, 0) for letter in has)
    reachable = frozenset(_KINDS[letter] for letter in has if letter in _KINDS)
    found: AvailableFactors = module.AvailableFactors(bits, two_step, reachable, has_skipped)
    return found


def level(cell: str) -> dict[str, int]:
    return {} if cell == "-" else {"acr": int(cell)}


def written(factors: tuple[FactorType, ...]) -> str:
    names = {factor: letter for letter, factor in _FACTORS.items()}
    return "".join(names[factor] for factor in factors) or "-"


def answer(row: dict[str, str], module: Any = decision) -> dict[str, str]:
    """Return what a module with ``find_need`` answers to the question of a row, as the table writes it."""
    policy = Policy(
        frozenset(_FACTORS[letter] for letter in letters(row["tenant"])),
        Prompt(row["prompt"]),
        Prompt(row["organization"]),
        SocialRule(row["social"]),
    )
    proven = module.Proven(
        row["way"],
        int(row["level"]),
        frozenset(_KINDS[letter] for letter in letters(row["channels"])),
        skips=row["skips"] == "1",
    )
    who = available(
        letters(row["has"]), two_step=row["two_step"] == "1", has_skipped=row["skipped"] == "1", module=module
    )
    demands = module.Demands(
        level(row["essential"]),
        level(row["wished"]),
        row["strict"] == "1",
        () if row["risk"] == "-" else (row["risk"],),
        row["strict"] == "request",
    )
    need = module.find_need(policy, who, proven, demands, is_remembered=row["remembered"] == "1")
    assert need.is_nothing is (need.least == 0)
    return {
        "least": str(need.least),
        "methods": written(need.methods),
        "enrolable": written(need.enrolable),
        "may_skip": str(int(need.may_skip)),
        "reasons": ",".join(need.reasons) or "-",
    }


# What the tenant and the user have, the channel of the first factor, a level, and whether it can be reached.
REACHABLE = [
    ("TB", "T", "-", 2, True),
    ("TB", "T", "-", 3, False),
    ("TB", "-", "-", 2, True),  # with an authenticator that is set up now
    ("TB", "W", "-", 3, False),
    ("TWB", "-", "-", 3, True),
    ("TWB", "T", "-", 4, False),
    ("E", "E", "-", 2, True),
    ("E", "E", "E", 2, False),
    ("EP", "E", "P", 2, True),
    ("WB", "B", "-", 3, True),
    ("E", "-", "-", 2, False),
    ("E", "-", "-", 1, False),
]


def reachable(row: tuple[str, str, str, int, bool], module: Any = decision) -> bool:
    tenant, has, channels, least, _ = row
    policy = Policy(frozenset(_FACTORS[letter] for letter in tenant))
    used = frozenset(_KINDS[letter] for letter in letters(channels))
    proven = module.Proven(FirstFactor.PASSWORD, channels=used)
    found: bool = module.can_reach(policy, available(letters(has), module=module), proven, least)
    return found
