"""The page on which an administrator who is signed in confirms the identity."""

from typing import Any, Final

from django import forms
from django.contrib.admin import site
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from identity.core.durations import CONFIRM_TIME
from identity.core.errors import ServiceError
from identity.core.refusal_texts import translate
from identity.operator_kit import fresh_proof
from identity.operator_kit.operations import Operation
from management.administrators import sign_in
from management.administrators.proof import NotProven
from management.site import localized
from management.site.proof_form import get_administrator
from management.site.sign_in import CodeForm, add_refusal, to_sentence


class PasswordForm(forms.Form):
    """The password of an administrator without a second step."""

    password = forms.CharField(
        label=_("Password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password", "autofocus": True}),
    )  # fmt: skip


_DESCRIPTION: Final = format_lazy(
    _("This protects users if somebody else uses your browser. It counts for {time}."), time=CONFIRM_TIME
)
_OPERATION: Final = Operation(
    "confirm", _("Confirm that it's you"), _DESCRIPTION, lambda _: "", form=PasswordForm
)


@never_cache
@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Verify the code of the second step, or the password of an administrator without one, and go back."""
    administrator = get_administrator(request)
    form_class = CodeForm if administrator.second_step_since else PasswordForm
    form = form_class(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.confirm(administrator, **form.cleaned_data)
        except ServiceError as error:
            refusal = error
            _add_error(form, error)
        else:
            request.session.cycle_key()
            fresh_proof.record(request)
            return HttpResponseRedirect(_get_next_url(request))
    context: dict[str, Any] = {"title": _OPERATION.label, "operation": _OPERATION, "form": form}
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal) if request.method == "POST" else response


def _add_error(form: forms.Form, error: ServiceError) -> None:
    """Add the message of a refusal. For a wrong password it names no username, which the form lacks."""
    if isinstance(error, sign_in.WrongCredentials):
        rule = NotProven("password", error.headers).rule
        form.add_error("password", localized.to_sentence(translate(rule)))
    else:
        form.add_error(None, to_sentence(error))


def _get_next_url(request: HttpRequest) -> str:
    """Return the page of this site that asked for the confirmation; the first page for any other URL."""
    next_url, root = request.GET.get(REDIRECT_FIELD_NAME, ""), reverse("admin:index")
    is_own = next_url.startswith(root) and url_has_allowed_host_and_scheme(next_url, allowed_hosts=None)
    return next_url if is_own else root
