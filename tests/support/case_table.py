"""Which test holds which security case: the table of docs/security/cases.md, read from the tests' names.

    .venv/bin/python -m tests.support.case_table

writes the page again. docs/security/cases.tsv has the cases, docs/security/accepted.md the accepted risks.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
FOLDER: Final = ROOT / "docs" / "security"
PAGE: Final = FOLDER / "cases.md"
TABLE: Final = FOLDER / "cases.tsv"
ACCEPTED: Final = FOLDER / "accepted.md"
ADVISORIES: Final = FOLDER / "advisories.md"

_NAME: Final = re.compile(r"def (test_\w+)")
_CASE: Final = re.compile(r"case((?:_(?:and_|to_)?[A-Z]\d\d)+)")
_ATTACK: Final = re.compile(r"(?=(A[VPSW]\d\d))")
_FACTOR: Final = re.compile(r"(?=_(MT\d{1,2})(?:_|$))")
_DECISION: Final = re.compile(r"decision((?:_(?:and_)?[A-Z]\d{1,2})+)")
_ADVISORY: Final = re.compile(r"^\| (?!Advisory|-)(.+?) \| .+ \| (.+) \|$", re.MULTILINE)
_ACCEPTED_ROW: Final = re.compile(r"^\| *\**((?:decision )?[A-Z]+\d+)", re.MULTILINE)

_SECTIONS: Final = {
    "A": "Authorization endpoint and redirects",
    "B": "Codes and PKCE",
    "C": "Client authentication and the token endpoint",
    "D": "Refresh tokens",
    "E": "Revocation and signing out",
    "F": "Tokens and keys",
    "G": "Tenants and organizations",
    "H": "The management API",
    "I": "Signing in, registration, codes",
    "J": "Browsers",
    "K": "Server, secrets, logs",
    "L": "Input and limits",
    "M": "Races",
    "N": "Audit log and time",
    "AV": "Attacks on the protocol",
    "AW": "Attacks on applications and sessions",
    "AP": "Attacks on the platform",
    "AS": "Suspected attacks",
    "decision N": "Decisions after the attacks",
    "MT": "Second factors and passkeys",
}
_HEAD: Final = """\
# Cases and the tests that hold them

Each row is a security case that must hold in every release, with the test files that hold it. The
name of a test has the numbers of its cases: `git grep case_D03` finds the tests of D03. Attacks and
decisions have names such as `attack_AV01` and `decision_N2`.

`.venv/bin/python -m tests.support.case_table` generates this page from the names of the tests and
from `cases.tsv` beside it. A test fails when a case has neither a test nor a row in
[accepted risks](accepted.md).
"""


@dataclass(frozen=True)
class Case:
    """A case, and the tests beyond those that name it."""

    number: str
    title: str
    also: tuple[str, ...]

    @property
    def section(self) -> str:
        return self.number.rstrip("0123456789")


def cases() -> list[Case]:
    """Return every case, in the order of the table."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    return [Case(number, title, tuple(also.split())) for number, title, also in rows]


def numbers_in(name: str) -> set[str]:
    """Return the numbers that the name of a test cites."""
    found: set[str] = set()
    for match in _CASE.finditer(name):
        cited = re.findall(r"(to_)?([A-Z])(\d\d)", match[1])
        for index, (through, letter, digits) in enumerate(cited):
            first = int(cited[index - 1][2]) + 1 if through else int(digits)
            found |= {f"{letter}{number:02}" for number in range(first, int(digits) + 1)}
    if "attack" in name:
        found |= set(_ATTACK.findall(name))
    found |= set(_FACTOR.findall(name))
    for match in _DECISION.finditer(name):
        found |= {f"decision {number}" for number in re.findall(r"N\d{1,2}", match[1])}
    return found


def tests() -> dict[str, set[str]]:
    """Return the tests of each number, as ``folder/test_file.py::test_name``."""
    found = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _NAME.findall(path.read_text()):
            for number in numbers_in(name):
                found[number].add(f"{path.relative_to(ROOT / 'tests')}::{name}")
    return found


def accepted() -> set[str]:
    """Return the numbers that docs/security/accepted.md gives a reason for."""
    return set(_ACCEPTED_ROW.findall(ACCEPTED.read_text()))


def advisories() -> list[tuple[str, str]]:
    """Return each advisory of docs/security/advisories.md, with what holds it here."""
    return _ADVISORY.findall(ADVISORIES.read_text())


def page() -> str:
    """Return the page."""
    held_by, stays = tests(), accepted()
    parts = [_HEAD]
    for section, of_section in groupby(cases(), lambda case: case.section):
        rows = [f"| {case.number} | {case.title} | {_held(case, held_by, stays)} |" for case in of_section]
        heading = f"## {_SECTIONS[section]}"
        parts.append("\n".join([heading, "", "| Case | What holds | Tests |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _held(case: Case, held_by: dict[str, set[str]], stays: set[str]) -> str:
    files = sorted({test.partition("::")[0] for test in held_by.get(case.number, set()).union(case.also)})
    shown = [f"`{file.removesuffix('.py')}`" for file in files]
    if case.number in stays:
        shown.append("[accepted risk](accepted.md)")
    return ", ".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page())
