"""What the pages say about an import: numbers, and the first problems."""

from typing import Any, Final

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.numbers import format_number
from identity.operator_kit.panels import Panel

OUTCOMES: Final = {
    "refused": _("Refused"),
    "left_out": _("Left out"),
    "without_password": _("Without password"),
}
_SHOWN: Final = 20

Report = dict[str, Any]


def get_button(report: Report) -> str:
    """Return the text of the button that imports, which is the title of the page, too."""
    number = report["imported"]
    if not number:
        return gettext("No users to import")
    return _count(ngettext("Import %(number)s user", "Import %(number)s users", number), number)


def get_title(report: Report) -> str:
    """Return the title of the page of a result."""
    number = report["imported"]
    return _count(ngettext("%(number)s user imported", "%(number)s users imported", number), number)


def build_numbers(report: Report, *, is_done: bool) -> Panel:
    """Return how many users are created, skipped and refused."""
    numbers = [
        (gettext("Created") if is_done else gettext("To create"), report["imported"]),
        (
            gettext("Skipped, because their ID was imported before or is repeated in the file"),
            report["present"],
        ),
        (gettext("Refused"), report["refused"]),
    ]
    if report["left_out"]:
        numbers.insert(2, (gettext("Skipped, because they are not users"), report["left_out"]))
    if report["without_password"]:
        done, planned = gettext("Created without a password"), gettext("To create without a password")
        numbers.insert(1, (done if is_done else planned, report["without_password"]))
    rows: list[tuple[Any, ...]] = [(name, format_number(number)) for name, number in numbers]
    return Panel(gettext("Users"), (gettext("Outcome"), gettext("Number")), rows)


def build_problems(report: Report) -> list[Panel]:
    """Return the first problems, if there are any."""
    problems = report["problems"]
    if not problems:
        return []
    rows = [_build_row(problem) for problem in problems[:_SHOWN]]
    headings = (gettext("Place"), gettext("ID"), gettext("Problem"), gettext("Outcome"))
    return [Panel(gettext("Problems"), headings, rows, is_cut=len(problems) > _SHOWN)]


def _build_row(problem: dict[str, Any]) -> tuple[Any, ...]:
    place = gettext("Line %(line)s") if "line" in problem else gettext("Record %(row)s")
    what = f"{problem['field']}: {problem['rule']}"
    return place % problem, problem["id"] or None, what, OUTCOMES[problem["outcome"]]


def _count(text: str, number: int) -> str:
    return text % {"number": format_number(number)}
