"""The page that goes through the standards line by line names the tests that hold each line."""

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "standards.md"
DOCUMENTS = (
    *("OpenID Connect Core 1.0", "OpenID Connect Discovery 1.0", "OpenID Connect RP-Initiated Logout 1.0"),
    "OAuth 2.0 Form Post Response Mode",
    *(
        "OAuth 2.1",
        "RFC 6750",
        "RFC 7009",
        "RFC 7636",
        "RFC 8252",
        "RFC 8707",
        "RFC 9068",
        "RFC 9207",
        "RFC 9700",
    ),
    *("WebAuthn Level 3", "RFC 8176", "RFC 6238", "NIST SP 800-63B-4"),
)
# RFC 2119. What is absolute has to be held by a test wherever it applies.
ABSOLUTE = {"MUST", "MUST NOT", "REQUIRED", "SHALL", "SHALL NOT"}
WORDS = ABSOLUTE | {"SHOULD", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED", "MAY", "OPTIONAL"}
# Whatever is different says why.
ANSWER = re.compile(r"kept\b.*|not offered\b.*|differs: .+|see .+")
TEST = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)


class Row(NamedTuple):
    """A requirement, as a page has it."""

    where: str
    document: str
    section: str
    requirement: str
    word: str
    answer: str
    held_by: str

    @property
    def words(self) -> set[str]:
        return {word for word in self.word.split(", ") if word.isascii()}  # a dash says that there is none

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/[^`]+::[^`]+)`", self.held_by)


def rows_of(page: Path) -> list[Row]:
    """Return the rows whose first cell is the number of a section."""
    rows, document = [], ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("## "):
            document = line.removeprefix("## ")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and re.match(r"[0-9A-Z][0-9.]*$", cells[0]):
            assert len(cells) == 5, f"{page.name}:{number} has {len(cells)} cells"
            rows.append(Row(f"{page.name}:{number}", document, *cells))
    return rows


ROWS = rows_of(PAGE)


def defined_in(file: str) -> set[str]:
    path = ROOT / file
    return set(TEST.findall(path.read_text())) if path.is_file() else set()


def test_every_test_that_is_named_exists():
    named = {test for row in ROWS for test in row.tests}
    known = {file: defined_in(file) for file in {test.split("::")[0] for test in named}}

    missing = {test for test in named if test.split("::")[-1] not in known[test.split("::")[0]]}

    assert len(named) > 100
    assert sorted(missing) == []


def test_whatever_is_absolute_and_applies_is_held_by_a_test():
    applying = [row for row in ROWS if row.words & ABSOLUTE and not row.answer.startswith("not offered")]

    assert [f"{row.where}: {row.requirement}" for row in applying if not row.tests] == []


def test_each_row_says_how_strong_it_is_and_what_we_do():
    assert [row.where for row in ROWS if row.words - WORDS or not ANSWER.fullmatch(row.answer)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_is_gone_through(document):
    assert len([row for row in ROWS if row.document.startswith(document)]) > 5


def test_sections_are_in_order():
    def place(row: Row) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", row.section)]

    neighbours = [(one, two) for one, two in pairwise(ROWS) if one.document == two.document]

    assert [two.where for one, two in neighbours if place(one) > place(two)] == []
