"""Running an operation for many rows of a list, after a page that names them."""

from collections import Counter
from typing import Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from identity.core import impacts
from identity.core.errors import ServiceError
from identity.operator_kit import sent_form
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.runner import OperationRunner

MAX_ROWS: Final = 500  # one request runs them all, each row in its own transaction
_MAX_NAMES: Final = 20
_SENT_BEFORE: Final = "You have sent this form before. It was done once."
_TYPED_FROM: Final = 10  # from this number of rows on, the operator types a confirmation


def respond(
    runner: OperationRunner, operation: Operation, _: Any, request: HttpRequest, selected: QuerySet[Any]
) -> HttpResponse | None:
    """Return a page that asks for confirmation, or run the operation.

    Return None after the operation ran or was refused: Django then redirects to the list.
    """
    is_confirmed = "confirmed" in request.POST
    if is_confirmed and sent_form.was_sent(request):
        messages.info(request, _SENT_BEFORE)
        return None
    if len(rows := list(selected.order_by("pk")[: MAX_ROWS + 1])) > MAX_ROWS:
        messages.warning(request, f"At most {MAX_ROWS} rows at once. Narrow the list down.")
        return None
    rows = [row for row in rows if operation.is_possible(row)]
    if not rows:
        messages.warning(request, f"“{operation.label}” is not possible for any of the selected rows.")
        return None
    title = operation.label if len(rows) == 1 else f" {len(rows)} ".join(operation.bulk_label)
    has_to_type = operation.is_destructive and len(rows) >= _TYPED_FROM
    is_wrong = has_to_type and request.POST.get("number", "").strip() != str(len(rows))
    if is_confirmed and not is_wrong:
        if sent_form.claim(request):
            _run(request, operation, rows, title)
        else:
            messages.info(request, _SENT_BEFORE)
        return None
    context: dict[str, Any] = {
        "title": f"{title}?",
        "button": title,
        "description": (len(rows) > 1 and operation.bulk_description) or operation.description,
        "number": len(rows) if has_to_type else None,
        "error": f"Type {len(rows)} to confirm." if is_confirmed else "",
        "ids": [row.pk for row in rows],
        "impact": impacts.measure_all(rows, operation.impact),
        "names": [runner.name_of(row) for row in rows[:_MAX_NAMES]],
        "unnamed": max(0, len(rows) - _MAX_NAMES),
        "checkbox": ACTION_CHECKBOX_NAME,
        "idempotency_key": sent_form.new_key(),
    }
    return runner.render(
        request, "admin/bulk.html", operation, status=400 if is_confirmed else 200, **context
    )


def _run(request: HttpRequest, operation: Operation, rows: list[Any], title: str) -> None:
    """Run an operation row by row, then report how many rows it changed, and what was refused."""
    refusals: Counter[str] = Counter()
    for row in rows:
        try:
            operation.run(Submission(row, {}, None, request.user))
        except ServiceError as refusal:
            refusals[refusal.message] += 1
    if done := len(rows) - refusals.total():
        messages.success(request, f"{title}: {done} of {len(rows)} done.")
    for reason, number in refusals.items():
        messages.warning(request, f"{number} refused: {reason}")
