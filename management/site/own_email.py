"""The page on which administrators change and confirm their own email."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from identity.core.errors import ServiceError
from identity.operator_kit.operations import Operation
from management.administrators import emails, mail, sign_in
from management.administrators.models import Administrator
from management.site.proof_form import PasswordForm, SecondStepForm, add_error, get_administrator
from management.site.sign_in import add_refusal, to_sentence


class EmailForm(PasswordForm):
    """An email, and the password."""

    email = forms.CharField(
        label=_("Email"), max_length=254, widget=forms.EmailInput({"autocomplete": "email"})
    )

    field_order = ("email", "password")


class EmailWithCodeForm(SecondStepForm, EmailForm):
    """An email, the password, and a code of the second step."""


@never_cache
@require_http_methods(["GET", "POST"])
def own_email(request: HttpRequest) -> HttpResponse:
    """Show the form, or send a link to an address.

    Raises:
        Http404: the installation has no mail server.

    """
    if not mail.is_configured():
        raise Http404
    administrator = get_administrator(request)
    kind = EmailWithCodeForm if administrator.second_step_since else EmailForm
    form = kind(request.POST or None, initial={"email": administrator.email})
    refusal: ServiceError | None = None
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        try:
            sign_in.reauthenticate(administrator, password=fields["password"], code=fields.get("code"))
            emails.send_link(administrator, fields["email"])
        except ServiceError as error:
            refusal = error
            add_error(form, error)
        else:
            text = gettext("A link is on its way to %(email)s. Open it in this browser.")
            messages.success(request, text % {"email": fields["email"]})
            return HttpResponseRedirect(reverse("admin:own-email"))
    operation = Operation(
        "email", gettext("Send link"), _describe(administrator), lambda _: "", form=EmailForm
    )
    response = _page(request, operation, gettext("Your email"), form)
    return add_refusal(response, refusal) if request.method == "POST" else response


@never_cache
@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether the address of a link is the administrator's, and store it."""
    administrator = get_administrator(request)
    try:
        email = emails.read(administrator, token)
        if request.method == "POST":
            emails.confirm(administrator, token)
    except emails.LinkEnded as refusal:
        messages.error(request, to_sentence(refusal))
        return HttpResponseRedirect(reverse("admin:own-email"))
    if request.method == "POST":
        messages.success(request, gettext("Your email %(email)s is confirmed.") % {"email": email})
        return HttpResponseRedirect(reverse("admin:own-email"))
    says = gettext("%(email)s becomes the email of your account. Links to new passwords are sent there.")
    title = gettext("Confirm email")
    operation = Operation("confirm", title, says % {"email": email}, lambda _: "")
    return _page(request, operation, title, forms.Form())


def _describe(administrator: Administrator) -> str:
    if not administrator.has_proven_email:
        return gettext("Confirm your email, so that you get a link there if you forget your password.")
    text = gettext("Your email %(email)s is confirmed. If you forget your password, you get a link there.")
    return text % {"email": administrator.email}


def _page(request: HttpRequest, operation: Operation, title: str, form: forms.Form) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "operation": operation, "form": form}
    return render(request, "admin/operation.html", {**site.each_context(request), **context})
