"""The pages on which an administrator replaces a forgotten password, by a link in a mail.

As with an invitation, the token moves from the URL into the session: see ``follow``.
"""

import time
from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import translate
from identity.users.hashing_views import hashes_password
from management.administrators import mail, recovery
from management.administrators.models import Administrator
from management.site.sign_in import add_refusal, to_sentence

_KEY: Final = "recovery"
_SECONDS: Final = 600


class EmailForm(forms.Form):
    """The email of an administrator."""

    email = forms.CharField(
        label=_("Email"), max_length=254,
        widget=forms.EmailInput({"autocomplete": "email", "autofocus": True}),
    )  # fmt: skip


class PasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        label=_("New password"), max_length=256, strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password", "autofocus": True}),
    )  # fmt: skip


@never_cache
@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """Ask for the email, and send links. The response is the same for every address.

    Raises:
        Http404: the installation has no mail server.

    """
    if not mail.is_configured():
        raise Http404
    form = EmailForm(request.POST or None)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            recovery.send_links(form.cleaned_data["email"])
            return _page(request, gettext("Check your mail"), email=form.cleaned_data["email"])
        except ServiceError as error:
            refusal = error
            _add_error(form, error)
    response = _page(request, gettext("Forgot your password?"), form=form, button=gettext("Send link"))
    return add_refusal(response, refusal) if request.method == "POST" else response


@never_cache
@require_safe
def follow(request: HttpRequest, pk: int, token: str) -> HttpResponse:
    """Store in the session that the link is valid, and redirect to the page without the token."""
    try:
        administrator = recovery.find(pk, token)
    except recovery.LinkEnded as refusal:
        return _ended(request, refusal)
    request.session[_KEY] = {
        "id": administrator.pk,
        "state": recovery.get_state(administrator),
        "until": int(time.time()) + _SECONDS,
    }
    return HttpResponseRedirect(reverse("admin:new-password"))


@hashes_password()
@never_cache
@require_http_methods(["GET", "POST"])
def set_password(request: HttpRequest) -> HttpResponse:
    """Ask for the new password, and set it."""
    stored = request.session.get(_KEY)
    if stored is None or time.time() > stored["until"]:
        return _ended(request, recovery.LinkEnded())
    form = PasswordForm(request.POST or None)
    administrator = Administrator.objects.filter(pk=stored["id"]).first()
    refusal: ServiceError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            recovery.set_password(stored["id"], state=stored["state"], password=form.cleaned_data["password"])
        except recovery.LinkEnded as ended:
            return _ended(request, ended)
        except ServiceError as error:
            refusal = error
            _add_error(form, error)
        else:
            request.session.flush()
            messages.success(request, gettext("Your password is changed. Sign in with the new one."))
            return HttpResponseRedirect(reverse("admin:login"))
    context = {"form": form, "button": gettext("Set password"), "name": administrator}
    response = _page(request, gettext("Choose a new password"), **context)
    return add_refusal(response, refusal) if request.method == "POST" else response


def _add_error(form: forms.Form, error: ServiceError) -> None:
    if isinstance(error, Invalid) and error.field in form.fields:
        form.add_error(error.field, translate(error.rule))
    else:
        form.add_error(None, to_sentence(error))


def _page(request: HttpRequest, title: str, **context: object) -> HttpResponse:
    context = {**site.each_context(request), "title": title, **context}
    return render(request, "admin/recover.html", context)


def _ended(request: HttpRequest, refusal: ServiceError) -> HttpResponse:
    request.session.pop(_KEY, None)
    return add_refusal(_page(request, gettext("This link no longer works"), is_ended=True), refusal)
