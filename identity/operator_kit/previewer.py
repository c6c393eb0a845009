"""Previews of a form's unsaved values, shown in a frame in which scripts and forms do not work."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.exceptions import ValidationError

from identity.core.errors import ServiceError
from identity.http.responses import allow_framing
from identity.operator_kit import extensions, form_errors, routes
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.texts import Text


@dataclass(frozen=True, slots=True)
class Previewer:
    """Renders the previews of one model's operations, from the form that was sent or from the saved row."""

    model: type[Model]

    def get_links(self, operation: Operation | None, row: Any) -> list[tuple[Text, str]]:
        """Return the label and the URL of each preview of an operation."""
        if operation is None:
            return []
        return [
            (preview.label, routes.preview_url(self.model, operation.name, row, preview.name))
            for preview in _get_previews(operation)
        ]

    def respond(self, request: HttpRequest, operation: Operation, row: Any, name: str) -> HttpResponse:
        """Render a preview, or the errors of the form.

        Raises:
            Http404: the operation has no such preview.

        """
        preview = next((preview for preview in _get_previews(operation) if preview.name == name), None)
        if operation.draft is None or preview is None:
            raise Http404
        values = request.POST if request.method == "POST" else dict(operation.initial(row))
        form = operation.get_form_class(row)(values, request.FILES)
        response: HttpResponse | None = None
        status = 400
        if form.is_valid():
            try:
                submission = Submission(row, form.cleaned_data, None, request.user)
                response = preview.render(operation.draft.build(submission))
            except (ServiceError, ValidationError) as refusal:
                status = form_errors.add_refusal(form, refusal)
        if response is None:
            response = render(request, "admin/preview_errors.html", {"form": form}, status=status)
        response["Cache-Control"] = "no-store"
        allow_framing(response)
        return response


def _get_previews(operation: Operation) -> list[extensions.Preview]:
    return extensions.registry[operation.draft.type].previews if operation.draft else []
