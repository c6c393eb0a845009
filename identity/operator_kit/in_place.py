"""Editing a card in place: the form of an operation in place of the values, on the page of the row.

The parameter ``edit`` of the page names the operation. The form is sent to the URL of the operation, with a
mark by which the operation leads back to the card. The mark names no URL, so it cannot lead anywhere else.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any, Final

from django.forms import Form
from django.http import HttpRequest, QueryDict

from identity.operator_kit import routes
from identity.operator_kit.operations import Operation
from identity.submissions.idempotency import Answer

PARAMETER: Final = "edit"
MARK: Final = "in_place"


def get_buttons(links: Iterable[tuple[Operation, str]], row: Any) -> list[tuple[Operation, str]]:
    """Return the buttons of the page of a row, as operations and URLs.

    Tabs and cards have links of their own. The button of the operation ``change`` opens its card.
    """
    return [
        (one, f"{routes.row_url(row)}?{PARAMETER}={one.name}#card-{one.name}" if one.edits else url)
        for one, url in links
        if not one.tab and (not one.edits or one.name == "change")
    ]


def was_sent(request: HttpRequest, operation: Operation) -> bool:
    """Tell whether the form of an operation was sent from a card."""
    return bool(operation.edits) and MARK in request.POST


def lead_back(request: HttpRequest, operation: Operation, row: Any, answer: Answer) -> Answer:
    """Return the answer of an operation; if its form was sent from a card, the answer leads to the card."""
    if not was_sent(request, operation):
        return answer
    return {**answer, "url": f"{routes.row_url(row)}#card-{operation.name}"}


def as_get(request: HttpRequest) -> HttpRequest:
    """Return a request of the same administrator for the page of the row."""
    shown = copy(request)
    vars(shown).update(vars(request))  # ``copy`` leaves out what cannot be pickled
    shown.method, shown.GET = "GET", QueryDict()
    return shown


def focus_first_error(form: Form) -> None:
    """Have the browser focus the first field that has an error."""
    wrong = next((field for field in form if field.errors), None)
    if wrong is not None:
        wrong.field.widget.attrs["autofocus"] = True
