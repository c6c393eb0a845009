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


def build_panels(report: Report, problems_url: str, *, is_done: bool) -> list[Panel]:
    """Return the numbers, and the first problems with a link to all of them."""
    numbers = [
        ("Created" if is_done else "To create", report["imported"]),
        ("Updated: an import never changes a user", 0),
        ("Skipped: imported before", report["present"]),
        ("Skipped: not a user", report["left_out"]),
        ("Refused", report["refused"]),
    ]
    if report["without_password"]:
        what = "Created without a password" if is_done else "To create without a password"
        numbers.insert(1, (what, report["without_password"]))
    panels = [Panel("Users", ("Outcome", "Number"), [(name, f"{number:,}") for name, number in numbers])]
    if problems := report["problems"]:
        rows = [_build_row(problem) for problem in problems[:_SHOWN]]
        headings = ("Place", "ID", "Field", "Rule", "Outcome")
        is_cut = len(problems) > _SHOWN
        panels.append(Panel("Problems", headings, rows, is_cut=is_cut, more_url=problems_url))
    return panels


def _build_row(problem: dict[str, Any]) -> tuple[Any, ...]:
    place = f"Line {problem['line']}" if "line" in problem else f"Record {problem['row']}"
    outcome = OUTCOMES[problem["outcome"]]
    return place, problem["id"] or None, problem["field"], problem["rule"], outcome


def _count(number: int) -> str:
    return f"{number:,} {'user' if number == 1 else 'users'}"
