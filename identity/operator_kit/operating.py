"""Doing operations: the page that asks for confirmation, the call, and what is said afterwards."""

from contextlib import nullcontext
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.records import Stale
from identity.operator_kit import form_errors, shown_once
from identity.operator_kit.operations import Done, Once, Onward, Operation, Order, Outcome
from identity.operator_kit.previewing import Previewing


def address_of(row: Model) -> str:
    """Return the address of a row's page."""
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return reverse(name, args=[quote(row.pk)])


def _page(request: HttpRequest) -> str:
    return f"{tenancy.active_id()} {request.path}"


class Operating(Previewing):
    """The part of ``Pages`` that does things."""

    admin_site: Any
    at_root: ClassVar[bool] = False
    heading: Any  # what the rows are called, as ``Pages`` has it

    def name_of(self, row: Any) -> str:
        """Return what a row is called."""
        return str(row)

    def operate(self, request: HttpRequest, operation: str, object_id: str | None = None) -> HttpResponse:
        """Ask for confirmation (GET) or do it (POST).

        Raises:
            Http404: there is no such row or operation.
            PermissionDenied: it is not for this administrator.

        """
        return self._operate(request, *self.meant(request, operation, object_id))

    def _operate(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        if row is not None and not operation.possible(row):
            messages.warning(request, f"“{operation.label}” is not possible any more.")
            return HttpResponseRedirect(address_of(row))
        kind = operation.form_of(row)
        if request.method != "POST":
            form = kind(initial=operation.initial(row))
            return self._asked(request, operation, row, form, done=self._waiting(request))
        form = kind(request.POST)
        if not form.is_valid():
            return self._asked(request, operation, row, form, status=400)
        status, done = self._run(request, operation, row, form)
        if done is None:
            return self._asked(request, operation, row, form, status=status)
        if isinstance(done, Once):
            shown_once.keep(request, _page(request), {"text": done.text, "secrets": dict(done.secrets)})
            return HttpResponseRedirect(request.path)
        return HttpResponseRedirect(self._next(request, row, done))

    def _waiting(self, request: HttpRequest) -> Once | None:
        """Return the secrets that the form sent before has made, if they were not shown yet."""
        found = shown_once.take(request, _page(request))
        return Once(**found) if found else None

    def _next(self, request: HttpRequest, row: Any, done: str | Done | Onward) -> str:
        """Return the page that follows, which says what was done."""
        if isinstance(done, Onward):
            return self._operation_address(done.operation, row)
        if isinstance(done, Done):
            messages.success(request, done.text)
            return address_of(done.row)
        messages.success(request, done)
        return self._after(row)

    def _asked(  # noqa: PLR0913 - the parts of a page
        self,
        request: HttpRequest,
        operation: Operation,
        row: Any,
        form: Any,
        *,
        status: int = 200,
        done: Once | None = None,
    ) -> HttpResponse:
        """Show the form, with what became of it so far."""
        context = {
            **self.admin_site.each_context(request),
            "title": operation.label,
            "heading": self.heading,
            "opts": self.opts,
            "operation": operation,
            "row": row,
            "row_name": self.name_of(row) if row is not None else "",
            "row_link": address_of(row) if row is not None else "",
            "form": form,
            "once": done,
            "previews": self.previews(operation, row),
            "is_stale": status == Stale.status,
            "version": request.POST.get("version", getattr(row, "version", "")),
        }
        response = TemplateResponse(request, "admin/operation.html", context, status=status)
        response["Cache-Control"] = "no-store"
        response.frames = operation.draft is not None  # type: ignore[attr-defined]
        return response

    def _run(
        self, request: HttpRequest, operation: Operation, row: Any, form: Any
    ) -> tuple[int, Outcome | None]:
        """Do it; a refusal is written into the form, and its status returned."""
        seen = request.POST.get("version", "")
        expected = frozenset({int(seen)}) if seen.isascii() and seen.isdigit() and len(seen) < 10 else None  # noqa: PLR2004
        order = Order(row, form.cleaned_data, expected, request.user)
        try:
            with tenancy.using(tenancy.DEFAULT) if self.at_root else nullcontext():
                return 200, operation.run(order)
        except (ServiceError, ValidationError) as refusal:
            return form_errors.tell(form, refusal), None

    def _after(self, row: Any) -> str:
        """Return where to go on: to the row, or to the list when it is gone."""
        if row is not None and self.model._default_manager.filter(pk=row.pk).exists():
            return address_of(row)
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
