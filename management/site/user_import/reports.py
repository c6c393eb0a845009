"""What the pages say about an import: numbers, and the first problems."""

from typing import Any, Final

from identity.operator_kit.panels import Panel

OUTCOMES: Final = {
    "refused": "Refused",
    "left_out": "Left out",
    "without_password": "Without password",
}
_SHOWN: Final = 20

Report = dict[str, Any]


def get_button(report: Report) -> str:
    """Return the text of the button that imports, which is the title of the page, too."""
    number = report["imported"]
    return f"Import {_count(number)}" if number else "No users to import"


def get_title(report: Report) -> str:
    """Return the title of the page of a result."""
    return f"{_count(report['imported'])} imported"


def build_numbers(report: Report, *, is_done: bool) -> Panel:
    """Return how many users are created, skipped and refused."""
    numbers = [
        ("Created" if is_done else "To create", report["imported"]),
        ("Skipped, because their ID was imported before or is repeated in the file", report["present"]),
        ("Refused", report["refused"]),
    ]
    if report["left_out"]:
        numbers.insert(2, ("Skipped, because they are not users", report["left_out"]))
    if report["without_password"]:
        what = "Created without a password" if is_done else "To create without a password"
        numbers.insert(1, (what, report["without_password"]))
    return Panel("Users", ("Outcome", "Number"), [(name, f"{number:,}") for name, number in numbers])


def build_problems(report: Report) -> list[Panel]:
    """Return the first problems, if there are any."""
    problems = report["problems"]
    if not problems:
        return []
    rows = [_build_row(problem) for problem in problems[:_SHOWN]]
    headings = ("Place", "ID", "Problem", "Outcome")
    return [Panel("Problems", headings, rows, is_cut=len(problems) > _SHOWN)]


def _build_row(problem: dict[str, Any]) -> tuple[Any, ...]:
    place = f"Line {problem['line']}" if "line" in problem else f"Record {problem['row']}"
    what = f"{problem['field']}: {problem['rule']}"
    return place, problem["id"] or None, what, OUTCOMES[problem["outcome"]]


def _count(number: int) -> str:
    return f"{number:,} {'user' if number == 1 else 'users'}"
