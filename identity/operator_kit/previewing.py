"""Previews: what would come of a form, drawn in a frame in which nothing runs and nothing is sent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.utils import quote
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from identity.core.errors import ServiceError
from identity.operator_kit import form_errors
from identity.operator_kit.offering import Offering
from identity.operator_kit.operations import Draft, Operation, Order

Draw = Callable[[Any], HttpResponse]


@dataclass(frozen=True, slots=True)
class Drawing:
    """One of the pages that can be drawn of a draft."""

    name: str
    label: str
    draw: Draw


_drawings: dict[type, list[Drawing]] = {}


def drawing(kind: type, name: str, label: str) -> Callable[[Draw], Draw]:
    """Draw drafts of an app below, which need not know what pages there are."""

    def note(draw: Draw) -> Draw:
        _drawings.setdefault(kind, []).append(Drawing(name, label, draw))
        return draw

    return note


class Previewing(Offering):
    """The part of ``Pages`` that draws drafts."""

    def _drafted(self, request: HttpRequest, row: Any) -> Operation | None:
        """Return the first operation that can be drawn, for the picture on the row's own page."""
        return next((one for one, _ in self._open(request, row) if one.draft), None)

    def previews(self, operation: Operation | None, row: Any) -> list[tuple[str, str]]:
        """Return what can be drawn of an operation's form, each with its address."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_preview"
        return [
            (one.label, reverse(name, args=[quote(row.pk), operation.name, one.name]))
            for one in _of(operation)
            if operation
        ]

    def preview(self, request: HttpRequest, object_id: str, operation: str, page: str) -> HttpResponse:
        """Draw a page from the form that was sent (POST), or from what is saved (GET); save nothing.

        Raises:
            Http404: there is no such row, operation or page.
            PermissionDenied: the operation is not for this administrator.

        """
        meant, row = self.meant(request, operation, object_id)
        draw = next((one.draw for one in _of(meant) if one.name == page), None)
        if draw is None or meant.draft is None:
            raise Http404
        form = meant.form_of(row)(request.POST if request.method == "POST" else dict(meant.initial(row)))
        response = _drawn(request, row, meant.draft, draw, form)
        response["Cache-Control"] = "no-store"
        response.framed = True  # type: ignore[attr-defined]
        return response


def _of(operation: Operation | None) -> list[Drawing]:
    return _drawings.get(operation.draft.kind, []) if operation and operation.draft else []


def _drawn(request: HttpRequest, row: Any, draft: Draft, draw: Draw, form: Any) -> HttpResponse:
    """Return a drawing of the form or, where there is nothing to draw, a page that says why."""
    status = 400
    if form.is_valid():
        try:
            return draw(draft.of(Order(row, form.cleaned_data, None, request.user)))
        except (ServiceError, ValidationError) as refusal:
            status = form_errors.tell(form, refusal)
    return render(request, "admin/not_drawn.html", {"form": form}, status=status)
