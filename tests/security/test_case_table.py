"""Every security case has a test that names it, or a reason why it is accepted."""

import re

import pytest

from tests.support import case_table
from tests.support.threads import THOROUGH

LETTERS = dict(zip("ABCDEFGHIJKLMN", (30, 18, 19, 18, 15, 25, 22, 16, 32, 22, 17, 18, 16, 10), strict=True))
ATTACKS = {"AV": 46, "AW": 11, "AP": 49, "AS": 4}
release = pytest.mark.skipif(not THOROUGH, reason="asked of a release (GATEHOUSE_THOROUGH=1)")


def held() -> set[str]:
    also = {case.number for case in case_table.cases() if case.also}
    return case_table.tests().keys() | case_table.accepted() | also


def test_every_number_has_a_title():
    numbers = [case.number for case in case_table.cases()]

    of_the_book = [
        f"{letter}{n:02}" for letter, most in (LETTERS | ATTACKS).items() for n in range(1, most + 1)
    ]
    of_the_decisions = [f"decision N{number}" for number in range(1, 21)]
    of_second_factors = [f"MT{number}" for number in range(1, 42)]
    assert numbers == of_the_book + of_the_decisions + of_second_factors
    assert all(case.title for case in case_table.cases())


def test_every_case_has_a_test_or_a_reason():
    book = {case.number for case in case_table.cases() if case.section in {*LETTERS, "MT"}}

    assert sorted(book - held()) == []


def test_every_decision_on_second_factors_has_a_test():
    """M1 to M66. Decisions on building, testing and documenting are not on the page, and have tests too."""
    page = (case_table.ROOT / "docs/decisions.md").read_text()
    written = re.findall(r"^- \*\*(M\d+)", page, re.MULTILINE)
    tests = "".join(file.read_text() for file in (case_table.ROOT / "tests").rglob("test_*.py"))
    names = re.findall(r"def test_decision((?:_M\d+)+)_", tests)
    tested = {number for name in names for number in name.strip("_").split("_")}

    decided = {f"M{number}" for number in range(1, 67)}
    assert sorted(set(written) - decided) == []
    assert sorted(decided - tested) == []


@release
def test_every_attack_and_every_decision_has_a_test_or_a_reason():
    assert sorted({case.number for case in case_table.cases()} - held()) == []


def test_no_test_names_a_number_that_is_none():
    known = {case.number for case in case_table.cases()}

    assert sorted(case_table.tests().keys() - known) == []


def test_tests_that_hold_a_case_under_another_name_exist():
    for case in case_table.cases():
        for test in case.also:
            file, _, name = test.partition("::")
            assert f"def {name}(" in (case_table.ROOT / "tests" / file).read_text(), test


def test_the_page_says_nothing_that_is_not_so():
    stated = re.findall(
        r"^\| ((?:decision )?[A-Z]+\d+) \| .* \| (.*) \|$", case_table.PAGE.read_text(), re.MULTILINE
    )
    found, also = case_table.tests(), {case.number: case.also for case in case_table.cases()}

    assert [number for number, _ in stated] == [case.number for case in case_table.cases()]
    for number, files in stated:
        really = {test.partition(".py::")[0] for test in found.get(number, set()).union(also[number])}
        assert set(re.findall(r"`([^`]+)`", files)) <= really, number


def test_every_advisory_has_a_case_a_test_or_a_reason():
    known, rows = {case.number for case in case_table.cases()}, case_table.advisories()

    assert len(rows) > 100
    for advisory, holds in rows:
        cited, named = set(re.findall(r"\b[A-Z]{1,2}\d\d\b", holds)), re.findall(r"`([^`]+)::(\w+)`", holds)
        assert cited or named or holds.startswith("Cannot happen: "), advisory
        assert cited <= known, advisory
        for file, name in named:
            text = (case_table.ROOT / "tests" / f"{file}.py").read_text()
            assert f"def {name}(" in text, (advisory, name)


def test_every_advisory_that_a_test_names_is_in_the_table():
    table = case_table.ADVISORIES.read_text()
    named = {
        match.replace("_", "-")
        for path in (case_table.ROOT / "tests" / "security").glob("test_advisories*.py")
        for match in re.findall(r"CVE[_-]\d{4}[_-]\d+", path.read_text())
    }

    assert named
    assert {number for number in named if number not in table} == set()


@release
def test_the_page_is_up_to_date():
    assert case_table.PAGE.read_text() == case_table.page(), (
        "run .venv/bin/python -m tests.support.case_table"
    )


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("test_case_D03_after_it_a_replay_ends_the_family", {"D03"}),
        ("test_decision_O7_case_B12_M01_on_two_nodes", {"B12", "M01"}),
        ("test_case_G03_to_G05_in_a_body_is_refused", {"G03", "G04", "G05"}),
        ("test_attack_AV01_AP02_a_squatter_keeps_nothing", {"AV01", "AP02"}),
        ("test_decision_N2_case_A29_consent_has_a_target", {"decision N2", "A29"}),
        ("test_case_MT1_MT12_and_more", {"MT1", "MT12"}),
        ("test_a_caseload_of_A11_things", set()),
    ],
)
def test_numbers_are_read_from_names(name, numbers):
    assert case_table.numbers_in(name) == numbers
