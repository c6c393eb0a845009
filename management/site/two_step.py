"""The pages of an administrator's own second step: set up, new recovery codes, remove."""

from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from identity.core.errors import ServiceError
from identity.operator_kit import shown_once
from identity.operator_kit.operations import Operation
from management.administrators import second_step, sign_in
from management.administrators.models import Administrator
from management.site import authenticator_setup
from management.site.sign_in import add_refusal, to_sentence

_CODES: Final = "recovery codes"
_OPEN: Final = ("admin:two-step", "admin:login", "admin:logout")


class ProofForm(forms.Form):
    """The password and a code."""

    password = forms.CharField(
        strip=False, max_length=256, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )
    code = forms.CharField(
        max_length=64, widget=forms.TextInput({"autocomplete": "one-time-code", "spellcheck": "false"})
    )


_RENEW: Final = Operation(
    "codes",
    "Create new recovery codes",
    "Your current recovery codes stop working.",
    lambda _: "",
    form=ProofForm,
)
_REMOVE: Final = Operation(
    "remove", "Remove the second step",
    "Your password alone is then enough to sign in. Your other sessions and tokens end.",
    lambda _: "", form=ProofForm, is_destructive=True,
)  # fmt: skip


def has_to_be_set_up(request: HttpRequest) -> bool:
    """Tell whether the administrator has to set up the second step before using other pages."""
    return second_step.is_missing(request.user) and request.path_info not in map(reverse, _OPEN)  # type: ignore[arg-type]


@never_cache
@require_http_methods(["GET", "POST"])
def two_step(request: HttpRequest) -> HttpResponse:
    """Show the second step, or set it up."""
    administrator = _get_administrator(request)
    if codes := shown_once.pop(request, _CODES):
        return _page(request, administrator, codes=codes)
    if administrator.second_step_since:
        return _page(request, administrator, left=administrator.recovery_codes.count())
    secret = authenticator_setup.get_secret(request, administrator)
    form = ProofForm(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.reauthenticate(administrator, password=form.cleaned_data["password"])
            codes = second_step.set_up(administrator, secret=secret, code=form.cleaned_data["code"])
        except ServiceError as error:
            refusal = error
            field = "code" if isinstance(error, second_step.WrongCode) else "password"
            form.add_error(field, to_sentence(error))
        else:
            authenticator_setup.end(request)
            update_session_auth_hash(request, administrator)
            return _show_codes(request, codes)
    context = authenticator_setup.get_context(administrator, secret)
    response = _page(request, administrator, title="Set up two-step sign-in", form=form, **context)
    return add_refusal(response, refusal) if request.method == "POST" else response


@never_cache
@require_http_methods(["GET", "POST"])
def renew_codes(request: HttpRequest) -> HttpResponse:
    """Replace the recovery codes."""

    def renew(administrator: Administrator) -> HttpResponse:
        return _show_codes(request, second_step.renew_codes(administrator))

    return _with_proof(request, _RENEW, renew)


@never_cache
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the second step."""

    def undo(administrator: Administrator) -> HttpResponse:
        second_step.remove(administrator)
        update_session_auth_hash(request, administrator)
        messages.success(request, "The second step is removed.")
        return HttpResponseRedirect(reverse("admin:two-step"))

    return _with_proof(request, _REMOVE, undo)


def _with_proof(
    request: HttpRequest, operation: Operation, then: Callable[[Administrator], HttpResponse]
) -> HttpResponse:
    """Ask for the password and a code, and call ``then`` if both are right."""
    administrator = _get_administrator(request)
    if not administrator.second_step_since:
        return HttpResponseRedirect(reverse("admin:two-step"))
    form = ProofForm(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.reauthenticate(administrator, **form.cleaned_data)
            return then(administrator)
        except ServiceError as error:
            refusal = error
            field = "code" if isinstance(error, second_step.WrongCode) else "password"
            form.add_error(field, to_sentence(error))
    context = {"title": operation.label, "operation": operation, "form": form}
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal) if request.method == "POST" else response


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    """Redirect to the page that shows the new recovery codes once."""
    shown_once.store(request, _CODES, codes)
    return HttpResponseRedirect(reverse("admin:two-step"))


def _get_administrator(request: HttpRequest) -> Administrator:
    return Administrator.objects.get(username=request.user.get_username())


def _page(request: HttpRequest, administrator: Administrator, **more: Any) -> HttpResponse:
    context = {
        "title": "Two-step sign-in",
        "administrator": administrator,
        "required": second_step.is_missing(administrator),
    }
    return render(request, "admin/two_step.html", {**site.each_context(request), **context, **more})
