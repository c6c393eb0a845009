"""The pages of an administrator's own second step: set up, new recovery codes, remove."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.contrib.admin import site
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.operator_kit import answers, fresh_proof, secrets_view, sent_form
from identity.operator_kit.operations import Operation
from identity.submissions import idempotency
from identity.submissions.idempotency import Answer
from management.administrators import second_step, sign_in
from management.administrators.models import Administrator
from management.site import authenticator_setup, passkey_session, provider_session
from management.site.proof_form import TwoStepForm, add_error, get_administrator
from management.site.sign_in import add_refusal

_CODES: Final = "recovery codes"
_OPEN: Final = ("admin:two-step", "admin:confirm", "admin:login", "admin:logout")

_RENEW: Final = Operation(
    "codes",
    _("Create new recovery codes"),
    _("Your current recovery codes stop working."),
    lambda _: "",
    form=TwoStepForm,
)
_REMOVE: Final = Operation(
    "remove", _("Remove the second step"),
    _("Your password alone is then enough to sign in. Your other sessions and tokens end."),
    lambda _: "", form=TwoStepForm, is_destructive=True,
)  # fmt: skip


def has_to_be_set_up(request: HttpRequest) -> bool:
    """Return whether the administrator has to set up the second step before using other pages."""
    if not second_step.is_missing(request.user):  # type: ignore[arg-type]
        return False
    if provider_session.has_two_factors(request) or passkey_session.is_started_by_passkey(request):
        return False
    return request.path_info not in map(reverse, _OPEN)


@never_cache
@require_http_methods(["GET", "POST"])
def two_step(request: HttpRequest) -> HttpResponse:
    """Show the second step, or set it up. The key of an authenticator is only shown after a proof."""
    administrator = get_administrator(request)
    shown_id = request.GET.get(secrets_view.PARAMETER)
    if secrets_view.is_asked_for(request) and (codes := secrets_view.find(request, _CODES)):
        return _page(request, administrator, codes=codes, shown_id=shown_id)
    if administrator.second_step_since:
        if request.method == "POST" and (answered := _find_answer(request)):
            return answered
        left = administrator.recovery_codes.count()
        return _page(request, administrator, left=left, is_shown_no_longer=bool(shown_id))
    if fresh_proof.is_missing(request):
        return fresh_proof.ask(request, back=request.path)
    secret = authenticator_setup.get_secret(request, administrator)
    form = TwoStepForm(request.POST or None)
    refusal = None

    def set_up() -> Answer:
        sign_in.reauthenticate(administrator, password=form.cleaned_data["password"])
        codes = second_step.set_up(administrator, secret=secret, code=form.cleaned_data["code"])
        authenticator_setup.end(request)
        update_session_auth_hash(request, administrator)
        return _show_codes(request, codes)

    if request.method == "POST" and form.is_valid():
        try:
            return _run_once(request, set_up)
        except ServiceError as error:
            refusal = error
            add_error(form, error)
    context = authenticator_setup.get_context(administrator, secret)
    response = _page(request, administrator, title=gettext("Set up two-step sign-in"), form=form, **context)
    return add_refusal(response, refusal) if request.method == "POST" else response


@never_cache
@require_http_methods(["GET", "POST"])
def renew_codes(request: HttpRequest) -> HttpResponse:
    """Replace the recovery codes."""

    def renew(administrator: Administrator) -> Answer:
        return _show_codes(request, second_step.renew_codes(administrator))

    return _with_proof(request, _RENEW, renew)


@never_cache
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the second step."""

    def undo(administrator: Administrator) -> Answer:
        second_step.remove(administrator)
        update_session_auth_hash(request, administrator)
        return {"url": reverse("admin:two-step"), "message": gettext("The second step is removed.")}

    return _with_proof(request, _REMOVE, undo)


def _with_proof(
    request: HttpRequest, operation: Operation, then: Callable[[Administrator], Answer]
) -> HttpResponse:
    """Ask for the password and a code, and call ``then`` if both are right."""
    administrator = get_administrator(request)
    if not administrator.second_step_since:
        return HttpResponseRedirect(reverse("admin:two-step"))
    form = TwoStepForm(request.POST or None)
    refusal = None

    def work() -> Answer:
        sign_in.reauthenticate(administrator, **form.cleaned_data)
        return then(administrator)

    if request.method == "POST" and form.is_valid():
        try:
            return _run_once(request, work)
        except ServiceError as error:
            refusal = error
            add_error(form, error)
    context = {"title": operation.label, "operation": operation, "form": form}
    context["idempotency_key"] = sent_form.new_key()
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal) if request.method == "POST" else response


def _run_once(request: HttpRequest, work: Callable[[], Answer]) -> HttpResponse:
    """Do the work, unless the same form was sent before, and redirect to the page of its answer."""
    with tenancy.using(tenancy.DEFAULT):
        answer = idempotency.run_once(sent_form.get_sent(request), work)
    return answers.redirect(request, answer)


def _find_answer(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to the form with which this second step was set up."""
    with tenancy.using(tenancy.DEFAULT), suppress(idempotency.KeyReused):
        answer = idempotency.find_answer(sent_form.get_sent(request))
        return None if answer is None else answers.redirect(request, answer)
    return None


def _show_codes(request: HttpRequest, codes: list[str]) -> Answer:
    """Store new recovery codes, and return the URL of the page that shows them."""
    return {"url": _codes_url(secrets_view.store(request, _CODES, codes)), "message": ""}


def _codes_url(shown_id: UUID) -> str:
    return f"{reverse('admin:two-step')}?{secrets_view.PARAMETER}={shown_id}"


def _page(request: HttpRequest, administrator: Administrator, **more: Any) -> HttpResponse:
    context = {
        "title": gettext("Two-step sign-in"),
        "administrator": administrator,
        "required": second_step.is_missing(administrator),
        "has_passkey_session": passkey_session.is_started_by_passkey(request),
        "idempotency_key": sent_form.new_key(),
    }
    return render(request, "admin/two_step.html", {**site.each_context(request), **context, **more})
