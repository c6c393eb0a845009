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
from management.site.sign_in import answered, spoken

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
    "codes", "New recovery codes", "Those you have so far stop working.", lambda _: "", form=ProofForm
)
_REMOVE: Final = Operation(
    "remove", "Remove the second step", "Your password alone signs in then. Other sessions and tokens end.",
    lambda _: "", form=ProofForm, is_destructive=True,
)  # fmt: skip


def has_to_be_set_up(request: HttpRequest) -> bool:
    """Tell whether the administrator has to set up the second step before using other pages."""
    return second_step.is_missing(request.user) and request.path_info not in map(reverse, _OPEN)  # type: ignore[arg-type]


@never_cache
@require_http_methods(["GET", "POST"])
def two_step(request: HttpRequest) -> HttpResponse:
    """Show the second step, or set it up."""
    administrator = _own(request)
    if codes := shown_once.pop(request, _CODES):
        return _page(request, administrator, codes=codes)
    if administrator.second_step_since:
        return _page(request, administrator, left=administrator.recovery_codes.count())
    secret = authenticator_setup.secret_of(request, administrator)
    form = ProofForm(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.reauthenticate(administrator, password=form.cleaned_data["password"])
            codes = second_step.set_up(administrator, secret=secret, code=form.cleaned_data["code"])
        except ServiceError as refused:
            refusal = refused
            form.add_error(
                "code" if isinstance(refused, second_step.WrongCode) else "password", spoken(refused)
            )
        else:
            authenticator_setup.end(request)
            update_session_auth_hash(request, administrator)
            return _with_codes(request, codes)
    response = _page(request, administrator, form=form, **authenticator_setup.shown(administrator, secret))
    return answered(response, refusal) if request.method == "POST" else response


@never_cache
@require_http_methods(["GET", "POST"])
def renew_codes(request: HttpRequest) -> HttpResponse:
    """Replace the recovery codes."""

    def renew(administrator: Administrator) -> HttpResponse:
        return _with_codes(request, second_step.renew_codes(administrator))

    return _proven(request, _RENEW, renew)


@never_cache
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the second step."""

    def undo(administrator: Administrator) -> HttpResponse:
        second_step.remove(administrator)
        update_session_auth_hash(request, administrator)
        messages.success(request, "The second step is removed.")
        return HttpResponseRedirect(reverse("admin:two-step"))

    return _proven(request, _REMOVE, undo)


def _proven(
    request: HttpRequest, operation: Operation, then: Callable[[Administrator], HttpResponse]
) -> HttpResponse:
    """Ask for the password and a code, and call ``then`` if both are right."""
    administrator = _own(request)
    if not administrator.second_step_since:
        return HttpResponseRedirect(reverse("admin:two-step"))
    form = ProofForm(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.reauthenticate(administrator, **form.cleaned_data)
            return then(administrator)
        except ServiceError as refused:
            refusal = refused
            form.add_error(
                "code" if isinstance(refused, second_step.WrongCode) else "password", spoken(refused)
            )
    context = {"title": operation.label, "operation": operation, "form": form}
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return answered(response, refusal) if request.method == "POST" else response


def _with_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    """Redirect to the page that shows the new recovery codes once."""
    shown_once.store(request, _CODES, codes)
    return HttpResponseRedirect(reverse("admin:two-step"))


def _own(request: HttpRequest) -> Administrator:
    return Administrator.objects.get(username=request.user.get_username())


def _page(request: HttpRequest, administrator: Administrator, **more: Any) -> HttpResponse:
    context = {
        "title": "Two-step sign-in",
        "administrator": administrator,
        "required": second_step.is_missing(administrator),
    }
    return render(request, "admin/two_step.html", {**site.each_context(request), **context, **more})
