"""The expected result of every module, as a file, and what it is compared with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.conformance.verdict import Result, Verdict

PATH: Final = Path(__file__).with_name("expected.tsv")
BASIC: Final = "oidcc-basic-certification-test-plan"
# It has the modules of the basic plan, and the same is expected of them.
FORM_POST: Final = "oidcc-formpost-basic-certification-test-plan"


class Row(NamedTuple):
    """What is expected of a module: its result, what it finds, and why that is right."""

    plan: str
    module: str
    result: str
    findings: str
    reason: str


def rows() -> list[Row]:
    """Return the sheet, in the order of the plans."""
    heading, *lines = PATH.read_text().splitlines()
    assert heading.split("\t") == list(Row._fields)
    written = [Row(*line.split("\t")) for line in lines]
    return written + [row._replace(plan=FORM_POST) for row in written if row.plan == BASIC]


def expected(module: str, plan: str = "") -> Row:
    """Return the row of a module, in this plan or in the first that has it."""
    return next(row for row in rows() if row.module == module and plan in {"", row.plan})


def fits(verdict: Verdict) -> bool:
    """Tell whether a module came to what is expected, for the reasons that are expected."""
    row = expected(verdict.module, verdict.plan)
    return (verdict.result, verdict.findings) == (row.result, row.findings)


def compare(verdict: Verdict) -> None:
    """Fail for a result that is worse than expected, and for a better one just as well."""
    row = expected(verdict.module, verdict.plan)
    assert fits(verdict), (
        f"{verdict.module} is {verdict.result} ({verdict.findings}), "
        f"and {PATH.name} expects {row.result} ({row.findings})"
    )


def printed(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield lines that say what every module of the sheet came to; of several runs, the one that differs."""
    actual = {
        (expected(verdict.module, verdict.plan).plan, verdict.module): verdict
        for verdict in sorted(verdicts, key=fits, reverse=True)
    }
    plan = ""
    for row in rows():
        if row.plan != plan:
            plan = row.plan
            yield plan
        found = actual.get((row.plan, row.module))
        result = found.result if found else Result.NOT_RUN
        expects = "" if found is None or fits(found) else f" (expected: {row.result})"
        said = found.findings if found else row.reason if row.result == Result.NOT_RUN else ""
        yield f"  {result:<8} {row.module}{expects}{f': {said}' if said else ''}"
