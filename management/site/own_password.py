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
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.operator_kit import sent_form
from identity.operator_kit.operations import Operation
from identity.submissions import idempotency
from identity.submissions.idempotency import Answer
from management.administrators import services, sign_in
from management.administrators.models import Administrator
from management.site.proof_form import SecondStepForm, add_error, get_administrator
from management.site.sign_in import add_refusal


class NewPasswordForm(forms.Form):
    """The current and the new password."""

    current = forms.CharField(
        label=_("Current password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip
    password = forms.CharField(
        label=_("New password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip


class NewPasswordWithCodeForm(SecondStepForm, NewPasswordForm):
    """The current and the new password, and a code of the second step."""

    field_order = ("current", "code", "password")


_DESCRIPTION = _(
    "Ends all your sessions and tokens, including this session. Then sign in with the new password."
)
_OPERATION = Operation("password", _("Change password"), _DESCRIPTION, lambda _: "", form=NewPasswordForm)


@never_cache
@require_http_methods(["GET", "POST"])
def own_password(request: HttpRequest) -> HttpResponse:
    """Show the form, or verify the current password and change it."""
    administrator = get_administrator(request)
    kind = NewPasswordWithCodeForm if administrator.second_step_since else NewPasswordForm
    form = kind(request.POST or None)
    refusal: ServiceError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            _change(request, administrator, form.cleaned_data)
        except ServiceError as error:
            refusal = error
            add_error(form, error, field="current")
        else:
            messages.success(request, gettext("Your password is changed. Sign in with the new one."))
            return HttpResponseRedirect(reverse("admin:login"))
    context: dict[str, Any] = {"title": _OPERATION.label, "operation": _OPERATION, "form": form}
    context["idempotency_key"] = sent_form.new_key()
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal) if request.method == "POST" else response


def _change(request: HttpRequest, administrator: Administrator, fields: dict[str, Any]) -> None:
    """Change the password, unless the same form was sent before."""

    def work() -> Answer:
        sign_in.reauthenticate(administrator, password=fields["current"], code=fields.get("code"))
        services.change(administrator, {"password": fields["password"]})
        return {}

    with tenancy.using(tenancy.DEFAULT):
        idempotency.run_once(sent_form.get_sent(request), work)
