"""Editing a card on the page of its row: the form of an operation replaces the card's values.

The page's parameter ``edit`` names the operation. The form is sent to the URL of the operation. The form's
hidden field ``in_place`` makes the operation redirect to the card. The field contains no URL, so it cannot
redirect elsewhere.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.forms import Form
from django.http import HttpRequest

from identity.operator_kit import routes
from identity.operator_kit.operations import Operation
from identity.submissions.idempotency import Answer

PARAMETER: Final = "edit"
MARK: Final = "in_place"


def get_buttons(links: Iterable[tuple[Operation, str]], row: Any) -> list[tuple[Operation, str]]:
    """Return the buttons of the page of a row, as operations and URLs.

    Operations of tabs and cards have no button, except ``change``. Its button opens the form of its card.
    """
    return [
        (one, f"{routes.row_url(row)}?{PARAMETER}={one.name}#card-{one.name}" if one.edits else url)
        for one, url in links
        if not one.tab and (not one.edits or one.name == "change")
    ]


def was_sent(request: HttpRequest, operation: Operation) -> bool:
    """Return whether the form of an operation was sent from a card."""
    return bool(operation.edits) and MARK in request.POST


def lead_back(request: HttpRequest, operation: Operation, row: Any, answer: Answer) -> Answer:
    """Return the answer. If the form was sent from a card, replace the answer's URL by that of the card."""
    if not was_sent(request, operation):
        return answer
    return {**answer, "url": f"{routes.row_url(row)}#card-{operation.name}"}


def focus_first_error(form: Form) -> None:
    """Make the browser focus the first field that has an error."""
    wrong = next((field for field in form if field.errors), None)
    if wrong is not None:
        wrong.field.widget.attrs["autofocus"] = True
