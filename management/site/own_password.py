"""The page on which administrators change their own password."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.operator_kit import form_errors, sent_form
from identity.operator_kit.operations import Operation
from identity.submissions import idempotency
from identity.submissions.idempotency import Answer
from management.administrators import second_step, services, sign_in
from management.administrators.models import Administrator


class PasswordForm(forms.Form):
    """The current and the new password."""

    current = forms.CharField(
        label=_("Current password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip
    password = forms.CharField(
        label=_("New password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip


class TwoStepForm(PasswordForm):
    """The current and the new password, and a code of the second step."""

    code = forms.CharField(
        label=_("Code"), max_length=64,
        widget=forms.TextInput({"autocomplete": "one-time-code", "spellcheck": "false"}),
    )  # fmt: skip

    field_order = ("current", "code", "password")


_DESCRIPTION = _(
    "Ends all your sessions and tokens, including this session. Then sign in with the new password."
)
_OPERATION = Operation("password", _("Change password"), _DESCRIPTION, lambda _: "", form=PasswordForm)


@require_http_methods(["GET", "POST"])
def own_password(request: HttpRequest) -> HttpResponse:
    """Show the form, or verify the current password and change it."""
    administrator = Administrator.objects.get(username=request.user.get_username())
    kind = TwoStepForm if administrator.second_step_since else PasswordForm
    form = kind(request.POST or None)
    status = 200
    if request.method == "POST":
        status = _change(request, administrator, form) if form.is_valid() else 400
        if status == 200:  # noqa: PLR2004
            messages.success(request, gettext("Your password is changed. Sign in with the new one."))
            return HttpResponseRedirect(reverse("admin:login"))
    context: dict[str, Any] = {"title": _OPERATION.label, "operation": _OPERATION, "form": form}
    context["idempotency_key"] = sent_form.new_key()
    return render(request, "admin/operation.html", {**site.each_context(request), **context}, status=status)


def _change(request: HttpRequest, administrator: Administrator, form: PasswordForm) -> int:
    """Change the password and return the response's status; a refusal becomes an error of the form."""
    fields = form.cleaned_data

    def work() -> Answer:
        sign_in.reauthenticate(administrator, password=fields["current"], code=fields.get("code"))
        services.change(administrator, {"password": fields["password"]})
        return {}

    try:
        with tenancy.using(tenancy.DEFAULT):
            idempotency.run_once(sent_form.get_sent(request), work)
    except ServiceError as refusal:
        form.add_error(_field_of(refusal), form_errors.describe(refusal))
        return refusal.status
    return 200


def _field_of(refusal: ServiceError) -> str | None:
    if isinstance(refusal, second_step.WrongCode):
        return "code"
    return "current" if isinstance(refusal, sign_in.WrongCredentials) else None
