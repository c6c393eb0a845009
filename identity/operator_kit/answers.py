"""The answer to a form that was run: the URL and the message of the page that shows the result."""

from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from identity.operator_kit import routes, secrets_page
from identity.operator_kit.operations import Result, ShowForm, ShowRow, ShowSecrets, ShowSite
from identity.submissions.idempotency import Answer


def build(request: HttpRequest, model: type[Model], row: Any, result: Result) -> Answer:
    """Return the answer for the result of an operation on a row of a model."""
    if isinstance(result, ShowSite):
        answer = {"url": result.url, "message": ""}
        return answer | {"cookies": result.cookies} if result.cookies else answer
    if isinstance(result, ShowSecrets):
        return {"url": secrets_page.store(request, result), "message": ""}
    if isinstance(result, ShowForm):
        return {"url": routes.operation_url(model, result.operation, row), "message": str(result.message)}
    if isinstance(result, ShowRow):
        return {"url": routes.row_url(result.row), "message": str(result.message)}
    is_there = row is not None and model._default_manager.filter(pk=row.pk).exists()
    url = routes.row_url(row) if is_there else routes.list_url(model)
    return {"url": url, "message": str(result)}


def redirect(request: HttpRequest, answer: Answer) -> HttpResponse:
    """Redirect to the page of an answer, which shows its message."""
    if answer["message"]:
        messages.success(request, answer["message"])
    response = HttpResponseRedirect(answer["url"])
    response.cookies.update(answer.get("cookies", {}))
    return response
