"""Running an operation: its form, the call of the service, and the page that follows."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.utils.translation import gettext, gettext_lazy
from rest_framework.exceptions import ValidationError

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.proof import TokenTooOld
from identity.core.records import Stale
from identity.http.responses import allow_form_targets, allow_frames
from identity.operator_kit import (
    answers,
    form_errors,
    fresh_proof,
    in_place,
    kept_input,
    routes,
    secrets_page,
    secrets_view,
    sent_form,
)
from identity.operator_kit.catalogue import OperationCatalogue
from identity.operator_kit.operations import Operation, Return, ShowPanels, Submission
from identity.operator_kit.previewer import Previewer
from identity.operator_kit.tabs import build_tabs
from identity.operator_kit.texts import Text
from identity.submissions import idempotency
from identity.submissions.idempotency import Answer

_IMPOSSIBLE: Final = gettext_lazy("“%(label)s” is no longer possible.")


@dataclass(frozen=True, slots=True)
class OperationRunner:
    """Runs the operations of one model. If ``at_root``, their audit entries belong to the default tenant.

    ``show_card`` returns the page of a row with the open form of a card.
    """

    site: AdminSite
    model: type[Model]
    heading: Text
    name_of: Callable[[Any], str]
    previewer: Previewer
    catalogue: OperationCatalogue
    at_root: bool
    show_card: Callable[[HttpRequest, Any, dict[str, Any]], HttpResponse]

    def in_tenant(self) -> AbstractContextManager[object]:
        """Return a context with the tenant to which the audit entries of an operation belong."""
        return tenancy.using(tenancy.DEFAULT) if self.at_root else nullcontext()

    def find_answer(self, request: HttpRequest) -> HttpResponse | None:
        """Return the response to a form that was sent before, even if its row was deleted, or None."""
        if request.method != "POST":
            return None
        try:
            answer = idempotency.find_answer(sent_form.get_sent(request))
        except idempotency.KeyReused:  # ``respond`` shows the form again
            return None
        return None if answer is None else answers.redirect(request, answer)

    def respond(  # noqa: PLR0911 - the ways to ask for an operation
        self, request: HttpRequest, operation: Operation, row: Any
    ) -> HttpResponse:
        """Show the form, or the secrets that it has created, or run the operation."""
        if operation.serve is not None:
            return operation.serve(self, request, operation)
        if secrets_view.is_asked_for(request):
            return self._secrets_page(request, operation, row)
        if row is not None and not operation.is_possible(row):
            messages.warning(request, _IMPOSSIBLE % {"label": operation.label})
            return HttpResponseRedirect(routes.row_url(row))
        if fresh_proof.is_missing(request) and operation.must_prove(row):
            return fresh_proof.ask(request)
        if request.method == "POST":
            return self._submit(request, operation, row)
        if operation.returns and request.method == "GET" and request.GET:
            return self._return(request, operation, operation.returns, row)
        if operation.reads and request.GET:
            return self._read(request, operation, row)
        form, kept = self._open_form(request, operation, row)
        return self._form_page(request, operation, row, form, kept=kept)

    def _submit(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        """Run the operation with the form that was sent, and redirect; or show the form with its errors."""
        form = operation.get_form_class(row)(request.POST, request.FILES)
        if not form.is_valid():
            return self._form_page(request, operation, row, form, status=400)
        viewer, expected = secrets_view.get_viewer(request), sent_form.get_expected_versions(request)
        is_proven = not fresh_proof.is_missing(request)
        submission = Submission(
            row, form.cleaned_data, expected, request.user, viewer, request, is_proven=is_proven
        )
        try:
            answer = self._run(request, operation, submission)
        except TokenTooOld:  # the row has changed since ``must_prove`` read it
            return fresh_proof.ask(request)
        except (ServiceError, ValidationError) as refusal:
            status = form_errors.add_refusal(form, refusal)
            return self._form_page(request, operation, row, form, status=status)
        kept_input.discard(request)
        fresh_proof.forget(request)
        return answers.redirect(request, answer)

    def render(
        self, request: HttpRequest, template: str, operation: Operation, status: int = 200, **context: Any
    ) -> HttpResponse:
        """Return a page about an operation, which browsers do not store."""
        shared = {**self.site.each_context(request), "heading": self.heading, "opts": self.model._meta}
        context = {"title": operation.label, "operation": operation, **shared, **context}
        return TemplateResponse(
            request, template, context, status=status, headers={"Cache-Control": "no-store"}
        )

    def _run(self, request: HttpRequest, operation: Operation, submission: Submission) -> Answer:
        """Return the URL and the message that follow an operation. Run it unless the form was sent before."""

        def work() -> Answer:
            with self.in_tenant():
                result = operation.run(submission)
            answer = answers.build(request, self.model, submission.row, result)
            return in_place.lead_back(request, operation, submission.row, answer)

        if operation.has_own_transactions:
            return work()
        return idempotency.run_once(sent_form.get_sent(request), work)

    def _read(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        """Show the form of an operation that only reads, and what it found with the fields of the query."""
        form = operation.get_form_class(row)(request.GET)
        if not form.is_valid():
            return self._form_page(request, operation, row, form, status=400)
        try:
            result = operation.run(Submission(row, form.cleaned_data, None, request.user))
        except (ServiceError, ValidationError) as refusal:
            status = form_errors.add_refusal(form, refusal)
            return self._form_page(request, operation, row, form, status=status)
        panels = result.panels if isinstance(result, ShowPanels) else []
        return self._form_page(request, operation, row, form, panels=panels)

    def _return(self, request: HttpRequest, operation: Operation, back: Return, row: Any) -> HttpResponse:
        """Continue an operation to which another site has redirected, and redirect to the result."""
        form, viewer = back.form(request.GET), secrets_view.get_viewer(request)
        if not form.is_valid():
            return self._form_page(request, operation, row, operation.get_form_class(row)(), status=400)
        try:
            content = back.run(Submission(row, form.cleaned_data, None, request.user, viewer, request))
        except ServiceError as refusal:
            context = self._row_context(row) | {"refusal": form_errors.describe(refusal)}
            return self.render(request, back.template, operation, refusal.status, **context)
        return HttpResponseRedirect(secrets_page.store_content(request, request.path, content))

    def open_card(self, request: HttpRequest, row: Any) -> dict[str, Any] | None:
        """Return the template context of the card that the URL of a row's page opens, or None.

        Raises:
            Http404: no operation with this name edits a card.
            PermissionDenied: the administrator may not run it.

        """
        if in_place.PARAMETER not in request.GET:
            return None
        operation = self.catalogue.get(request, request.GET[in_place.PARAMETER], with_row=True)
        if not operation.edits:
            raise Http404
        if not operation.is_possible(row):
            messages.warning(request, _IMPOSSIBLE % {"label": operation.label})
            return None
        form, kept = self._open_form(request, operation, row)
        return self._form_context(request, operation, row, form, kept=kept) | {"operation": operation}

    def _open_form(
        self, request: HttpRequest, operation: Operation, row: Any
    ) -> tuple[Form, QueryDict | None]:
        """Return the form with the values of the row, or with input that was kept, which is returned too."""
        form_class = operation.get_form_class(row)
        kept = kept_input.find(request, routes.operation_url(self.model, operation.name, row))
        if kept is not None:
            return kept_input.fill(form_class, kept), kept
        return form_class(initial=operation.get_initial(row, request.GET)), None

    def _form_context(
        self, request: HttpRequest, operation: Operation, row: Any, form: Form, **options: Any
    ) -> dict[str, Any]:
        """Return the template context of a form, with the options ``status`` and ``kept``."""
        status, kept = options.get("status", 200), options.get("kept")
        in_place.focus_first_error(form)
        return {
            "keeps": kept_input.get_names(form),
            "is_kept": kept is not None,
            "was_asked_for_proof": fresh_proof.was_asked(request),
            "form": form,
            "button": operation.get_button("" if row is None else self.name_of(row)),
            "version": (kept or request.POST).get("version", getattr(row, "version", "")),
            "idempotency_key": sent_form.new_key(),
            "previews": self.previewer.get_links(operation, row),
            "is_stale": status == Stale.status,
            "status": status,
        }

    def _form_page(
        self, request: HttpRequest, operation: Operation, row: Any, form: Form, **context: Any
    ) -> HttpResponse:
        context |= self._form_context(request, operation, row, form, **context)
        if in_place.was_sent(request, operation):
            return self.show_card(request, row, context | {"operation": operation})
        context |= self._row_context(row)
        if row is not None:
            context["title"] = operation.get_title(context["row_name"])
            context["impact"] = operation.impact(row) if operation.impact else None
            if operation.tab:
                context["tabs"] = build_tabs(self.catalogue.get_available(request, row), row, operation.tab)
        context["card"] = operation.card(row, form)
        page = self.render(request, "admin/operation.html", operation, **context)
        if operation.draft is not None:
            allow_frames(page)
        if operation.returns and settings.DEVELOPMENT:
            allow_form_targets(page, ("http:",))
        return page

    def _secrets_page(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        """Show the secrets that a form has created, or say that they are no longer shown."""
        content = secrets_view.find(request, secrets_page.get_name(request.path))
        status = 200 if content else 410
        context = self._row_context(row) | {"shown": content, "shown_id": request.GET[secrets_view.PARAMETER]}
        context |= {"can_renew": operation.is_possible(row)}
        if operation.returns:
            return self.render(request, operation.returns.template, operation, status, **context)
        # Nodes of 0.2.0 store no title.
        title = content.get("title", gettext("New secret")) if content else gettext("No longer shown")
        return self.render(request, "admin/shown_once.html", operation, status, title=title, **context)

    def _row_context(self, row: Any) -> dict[str, Any]:
        if row is None:
            return {}
        return {"row": row, "row_name": self.name_of(row), "row_link": routes.row_url(row)}
