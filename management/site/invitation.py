"""The page on which an invited person becomes an administrator.

The link's token moves from the URL into the session, as a hash, so that no header or log shows it again.
"""

from typing import Final

from django import forms
from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import translate
from identity.operator_kit import fresh_proof
from identity.users.hashing_views import hashes_password
from management.administrators import invitations, sign_in
from management.administrators.invitation_tokens import hash_token
from management.administrators.models import Invitation
from management.site import idle_sessions
from management.site.sign_in import add_refusal, to_sentence

_KEY: Final = "invitation"


class AcceptForm(forms.Form):
    """The username and the password of a new administrator."""

    username = forms.CharField(
        label=_("Username"), max_length=128,
        widget=forms.TextInput({"autocomplete": "username", "autofocus": True}),
    )  # fmt: skip
    password = forms.CharField(
        label=_("Password"), max_length=256, strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip


@never_cache
@require_safe
def follow(request: HttpRequest, token: str) -> HttpResponse:
    """Store a valid link's hash in the session, and redirect to the page without the token."""
    token_hash = hash_token(token)
    try:
        invitations.find(token_hash)
    except invitations.InvitationEnded as refusal:
        return _ended(request, refusal)
    request.session[_KEY] = token_hash
    return HttpResponseRedirect(reverse("admin:invitation"))


@hashes_password()
@never_cache
@require_http_methods(["GET", "POST"])
def accept(request: HttpRequest) -> HttpResponse:
    """Show the form, or create the administrator and sign in."""
    token_hash = request.session.get(_KEY, "")
    form = AcceptForm(request.POST or None)
    refusal: ServiceError | None = None
    try:
        invitation = invitations.find(token_hash)
        if request.method == "POST" and form.is_valid():
            administrator = invitations.accept(token_hash, **form.cleaned_data)
            request.session.flush()
            sign_in.record(administrator, by="invitation")
            idle_sessions.begin(request, administrator)
            fresh_proof.record(request)
            return HttpResponseRedirect(reverse("admin:index"))
    except invitations.InvitationEnded as ended:
        return _ended(request, ended)
    except ServiceError as error:
        refusal = error
        field = error.field if isinstance(error, Invalid) and error.field in form.fields else None
        form.add_error(field, translate(error.rule) if field else to_sentence(error))  # type: ignore[attr-defined]
    response = _page(request, invitation, form)
    return add_refusal(response, refusal) if request.method == "POST" else response


def _page(request: HttpRequest, invitation: Invitation, form: AcceptForm) -> HttpResponse:
    tenants = [] if invitation.is_superuser else invitation.tenants.order_by("name")
    context = {
        "title": gettext("Accept your invitation"),
        "invitation": invitation,
        "tenants": tenants,
        "form": form,
    }
    return render(request, "admin/invitation.html", {**site.each_context(request), **context})


def _ended(request: HttpRequest, refusal: ServiceError) -> HttpResponse:
    request.session.pop(_KEY, None)
    context = {"title": gettext("Invitation no longer valid")}
    response = render(request, "admin/invitation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal)
