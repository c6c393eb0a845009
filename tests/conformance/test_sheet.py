"""The sheet, and the tests that it stands for."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance import sheet
from tests.conformance.verdict import Result, Verdict

FOLDER = Path(__file__).parent
SIZES = {
    sheet.BASIC: 38,
    sheet.FORM_POST: 38,
    "oidcc-config-certification-test-plan": 1,
    "oidcc-rp-initiated-logout-certification-test-plan": 11,
}


def modules_with_a_test() -> list[str]:
    """The modules that the files of the plans have tests for."""
    functions = [
        node.name
        for path in FOLDER.glob("*_plan.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    return [name.removeprefix("test_").replace("_", "-") for name in functions]


def test_every_module_has_a_row_and_every_row_that_is_run_a_test():
    run = [row.module for row in sheet.rows() if row.result != Result.NOT_RUN and row.plan != sheet.FORM_POST]

    assert sorted(modules_with_a_test()) == sorted(run)


def test_the_plans_are_whole_and_name_each_module_once():
    rows = sheet.rows()

    assert Counter(row.plan for row in rows) == SIZES
    assert max(Counter((row.plan, row.module) for row in rows).values()) == 1


def test_whatever_is_less_than_passed_has_a_reason():
    assert [row.module for row in sheet.rows() if row.result not in set(Result)] == []
    assert [row.module for row in sheet.rows() if row.result != Result.PASSED and not row.reason] == []


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("oidcc-server", Verdict("oidcc-server", warnings=["something"])),
        ("oidcc-server", Verdict("oidcc-server", failures=["something"])),
        ("oidcc-scope-email", Verdict("oidcc-scope-email")),
        ("oidcc-scope-email", Verdict("oidcc-scope-email", warnings=["for another reason"])),
        (
            "oidcc-discovery-endpoint-verification",
            Verdict("oidcc-discovery-endpoint-verification", failures=["RS256 is not among ES256"]),
        ),
    ],
)
def test_a_result_that_is_worse_or_better_or_has_another_reason_is_no_match(module, found):
    assert sheet.expected(module)
    with pytest.raises(AssertionError, match=module):
        sheet.compare(found)


def test_the_sheet_is_printed_with_what_differs():
    worse = Verdict("oidcc-server", warnings=["too long"])

    lines = list(sheet.printed([worse, Verdict("oidcc-server")]))

    assert "  WARNING  oidcc-server (expected: PASSED): too long" in lines
    assert lines[0] == "oidcc-basic-certification-test-plan"
    assert len(lines) == len(sheet.rows()) + len(SIZES)
