"""Running an operation: its form, the call of the service, and the page that follows."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.db.models import Model
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from rest_framework.exceptions import ValidationError

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.records import Stale
from identity.operator_kit import form_errors, routes, shown_once
from identity.operator_kit.operations import Operation, Result, ShowForm, ShowRow, ShowSecrets, Submission
from identity.operator_kit.previewer import Previewer


@dataclass(frozen=True, slots=True)
class OperationRunner:
    """Runs the operations of one model. If ``at_root``, their audit entries belong to the default tenant."""

    site: AdminSite
    model: type[Model]
    heading: str
    name_of: Callable[[Any], str]
    previewer: Previewer
    at_root: bool

    def respond(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        """Show the form, or run the operation with the form that was sent."""
        if row is not None and not operation.is_possible(row):
            messages.warning(request, f"“{operation.label}” is no longer possible.")
            return HttpResponseRedirect(routes.row_url(row))
        form_class = operation.get_form_class(row)
        if request.method != "POST":
            form = form_class(initial=operation.initial(row))
            return self._form_page(request, operation, row, form, shown_once=_pop_secrets(request))
        form = form_class(request.POST)
        if not form.is_valid():
            return self._form_page(request, operation, row, form, status=400)
        submission = Submission(row, form.cleaned_data, _expected_versions(request), request.user)
        try:
            with tenancy.using(tenancy.DEFAULT) if self.at_root else nullcontext():
                result = operation.run(submission)
        except (ServiceError, ValidationError) as refusal:
            status = form_errors.add_refusal(form, refusal)
            return self._form_page(request, operation, row, form, status=status)
        return HttpResponseRedirect(self._next_url(request, row, result))

    def render(
        self, request: HttpRequest, template: str, operation: Operation, status: int = 200, **context: Any
    ) -> HttpResponse:
        """Return a page about an operation, which browsers do not store."""
        shared = {**self.site.each_context(request), "heading": self.heading, "opts": self.model._meta}
        context = {"title": operation.label, "operation": operation, **shared, **context}
        return TemplateResponse(
            request, template, context, status=status, headers={"Cache-Control": "no-store"}
        )

    def _form_page(
        self, request: HttpRequest, operation: Operation, row: Any, form: Form, **context: Any
    ) -> HttpResponse:
        context["is_stale"] = context.get("status") == Stale.status
        if row is not None:
            context |= {"row": row, "row_name": self.name_of(row), "row_link": routes.row_url(row)}
        context["version"] = request.POST.get("version", getattr(row, "version", ""))
        context["previews"] = self.previewer.get_links(operation, row)
        page: Any = self.render(request, "admin/operation.html", operation, form=form, **context)
        page.frames = operation.draft is not None  # read by the middleware of the security headers
        return page  # type: ignore[no-any-return]

    def _next_url(self, request: HttpRequest, row: Any, result: Result) -> str:
        """Return the URL of the page that shows the result."""
        if isinstance(result, ShowSecrets):
            # During an upgrade, a node of 0.1.2 may show what this node stores, and the other way round.
            content = {"text": result.message, "secrets": dict(result.secrets)}
            shown_once.store(request, _secrets_key(request), content)
            return request.path
        if isinstance(result, ShowForm):
            return routes.operation_url(self.model, result.operation, row)
        if isinstance(result, ShowRow):
            messages.success(request, result.message)
            return routes.row_url(result.row)
        messages.success(request, result)
        is_there = row is not None and self.model._default_manager.filter(pk=row.pk).exists()
        return routes.row_url(row) if is_there else routes.list_url(self.model)


def _expected_versions(request: HttpRequest) -> frozenset[int] | None:
    version = request.POST.get("version", "")
    is_number = version.isascii() and version.isdigit() and len(version) < 10  # noqa: PLR2004
    return frozenset({int(version)}) if is_number else None


def _pop_secrets(request: HttpRequest) -> ShowSecrets | None:
    """Return the secrets that the form has created before, unless they were shown."""
    content = shown_once.pop(request, _secrets_key(request))
    return ShowSecrets(content["text"], content["secrets"]) if content else None


def _secrets_key(request: HttpRequest) -> str:
    return f"{tenancy.active_id()} {request.path}"
