"""Running an operation for many rows of a list, after a page that names them."""

from collections import Counter
from typing import Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.core.errors import ServiceError
from identity.core.proof import TokenTooOld
from identity.operator_kit import form_errors, fresh_proof, sent_form
from identity.operator_kit.operations import Operation, Submission, ask
from identity.operator_kit.runner import OperationRunner

MAX_ROWS: Final = 500  # one request runs them all, each row in its own transaction
_MAX_NAMES: Final = 20
_TOO_MANY: Final = _("At most %(count)s rows at once. Narrow the list down.")
_IMPOSSIBLE: Final = _("“%(label)s” is not possible for any of the selected rows.")
_SENT_BEFORE: Final = _("You have sent this form before. It was done once.")
_NEEDS_PROOF: Final = _("this needs your password or code: do it on the page of each of them")
_TYPED_FROM: Final = 10  # from this number of rows on, the operator types a confirmation


def respond(
    runner: OperationRunner, operation: Operation, pages: Any, request: HttpRequest, selected: QuerySet[Any]
) -> HttpResponse | None:
    """Return a page that asks for confirmation, or run the operation.

    Return None after the operation ran or was refused: Django then redirects to the list.
    """
    is_confirmed = "confirmed" in request.POST
    if is_confirmed and sent_form.was_sent(request):
        messages.info(request, _SENT_BEFORE)
        return None
    if len(rows := list(selected.order_by("pk")[: MAX_ROWS + 1])) > MAX_ROWS:
        messages.warning(request, _TOO_MANY % {"count": MAX_ROWS})
        return None
    rows = [row for row in rows if operation.is_possible(row)]
    if not rows:
        messages.warning(request, _IMPOSSIBLE % {"label": operation.label})
        return None
    title = operation.get_bulk_title(len(rows))
    has_to_type = operation.is_destructive and len(rows) >= _TYPED_FROM
    is_wrong = has_to_type and request.POST.get("number", "").strip() != str(len(rows))
    if is_confirmed and not is_wrong:
        if sent_form.claim(request):
            _run(runner, request, operation, rows, title)
        else:
            messages.info(request, _SENT_BEFORE)
        return None
    context: dict[str, Any] = {
        "title": ask(title),
        "button": title,
        "description": (len(rows) > 1 and operation.bulk_description) or operation.description,
        "number": len(rows) if has_to_type else None,
        "error": gettext("Type %(number)s to confirm.") % {"number": len(rows)} if is_confirmed else "",
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


def _run(
    runner: OperationRunner, request: HttpRequest, operation: Operation, rows: list[Any], title: str
) -> None:
    """Run an operation row by row, then report how many rows it changed, and what was refused."""
    refusals: Counter[str] = Counter()
    is_proven = not fresh_proof.is_missing(request)
    for row in rows:
        try:
            with runner.in_tenant():
                operation.run(Submission(row, {}, None, request.user, is_proven=is_proven))
        except TokenTooOld:
            refusals[str(_NEEDS_PROOF)] += 1
        except ServiceError as refusal:
            refusals[form_errors.describe(refusal)] += 1
    if done := len(rows) - refusals.total():
        numbers = {"title": title, "done": done, "number": len(rows)}
        messages.success(request, gettext("%(title)s: %(done)s of %(number)s done.") % numbers)
    for reason, number in refusals.items():
        messages.warning(
            request, gettext("%(number)s refused: %(reason)s") % {"number": number, "reason": reason}
        )
