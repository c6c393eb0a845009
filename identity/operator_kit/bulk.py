"""Doing an operation to many rows of a list at once, after a page that says to how many."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from identity.core.errors import ServiceError
from identity.operator_kit.operations import Operation, Order

MOST: Final = 500  # each is a transaction of its own, and the page has to end
_NAMED: Final = 20

Action = tuple[Callable[[Any, HttpRequest, QuerySet[Any]], HttpResponse | None], str, str]


def action(operation: Operation) -> Action:
    """Return an operation as an action of Django's lists."""

    def asked(pages: Any, request: HttpRequest, chosen: QuerySet[Any]) -> HttpResponse | None:
        rows = list(chosen.order_by("pk")[: MOST + 1])
        if len(rows) > MOST:
            messages.warning(request, f"At most {MOST} at once: narrow the list down first.")
            return None
        rows = [row for row in rows if operation.possible(row)]
        if not rows:
            messages.warning(request, f"“{operation.label}” is possible for none of them.")
            return None
        if "confirmed" in request.POST:
            _do(request, operation, rows)
            return None
        return _confirmation(pages, request, operation, rows)

    return asked, operation.name, operation.label


def _confirmation(pages: Any, request: HttpRequest, operation: Operation, rows: list[Any]) -> HttpResponse:
    context = {
        **pages.admin_site.each_context(request),
        "title": operation.label,
        "heading": pages.heading,
        "opts": pages.opts,
        "operation": operation,
        "ids": [row.pk for row in rows],
        "named": [pages.name_of(row) for row in rows[:_NAMED]],
        "more": max(0, len(rows) - _NAMED),
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    response = TemplateResponse(request, "admin/bulk.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _do(request: HttpRequest, operation: Operation, rows: list[Any]) -> None:
    """Do it row by row, each as if it were alone; say how many there were, and what was refused."""
    refused: dict[str, int] = {}
    for row in rows:
        try:
            operation.run(Order(row, {}, None, request.user))
        except ServiceError as refusal:
            refused[refusal.message] = refused.get(refusal.message, 0) + 1
    done = len(rows) - sum(refused.values())
    if done:
        messages.success(request, f"{operation.label}: done to {done} of {len(rows)}.")
    for why, number in refused.items():
        messages.warning(request, f"{number} refused: {why}")
