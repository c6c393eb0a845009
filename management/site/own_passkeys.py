"""The pages of an administrator's own passkeys: the list, and adding, renaming and removing one."""

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from identity.core.durations import CONFIRM_TIME
from identity.core.errors import ServiceError
from identity.factors import relying_party
from identity.factors.credential_columns import MAX_NAME
from identity.operator_kit.operations import Operation
from management.administrators import passkeys, sign_in
from management.administrators.models import Administrator, AdministratorPasskey
from management.site import new_passkey, proof_form
from management.site.proof_form import PasswordForm
from management.site.sign_in import add_refusal

_ADD = Operation(
    "add", _("Add passkey"),
    format_lazy(_("Confirm that it is you. Then you have {time} to create the passkey."), time=CONFIRM_TIME),
    lambda _: "", form=PasswordForm,
)  # fmt: skip
_RENAME = Operation("rename", _("Rename passkey"), _("Only this list shows the name."), lambda _: "")
_REMOVE = Operation(
    "remove", _("Remove passkey"),
    _("The passkey can no longer sign in, and sessions that it started end. Delete it from your device too."),
    lambda _: "", form=PasswordForm, is_destructive=True,
)  # fmt: skip


class NameForm(forms.Form):
    """A name for a passkey."""

    name = forms.CharField(label=_("Name"), max_length=MAX_NAME, required=False)


@never_cache
@require_safe
def own_passkeys(request: HttpRequest) -> HttpResponse:
    """Show the passkeys of the administrator."""
    administrator = _get_administrator(request)
    rp_id = relying_party.current().id
    rows = AdministratorPasskey.objects.filter(administrator=administrator).order_by("created_at", "pk")
    context = {
        "title": gettext("Passkeys"),
        "passkeys": [(row, row.rp_id != rp_id) for row in rows],
        "is_available": relying_party.is_available(),
        "has_second_step": bool(administrator.second_step_since),
    }
    return render(request, "admin/passkeys.html", {**site.each_context(request), **context})


@never_cache
@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest) -> HttpResponse:
    """Ask for the password and a code, then show the button that creates a passkey.

    Raises:
        Http404: browsers have no passkeys at this address.

    """
    if not relying_party.is_available():
        raise Http404
    if request.method == "GET" and new_passkey.is_allowed(request):
        context = {"title": _ADD.label, "form": NameForm(), "passkey": new_passkey.describe()}
        return render(request, "admin/new_passkey.html", {**site.each_context(request), **context})

    def allow(administrator: Administrator) -> HttpResponse:
        new_passkey.allow(request, administrator)
        return HttpResponseRedirect(reverse("admin:add-passkey"))

    return _with_proof(request, _ADD, allow)


@never_cache
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, passkey_id: UUID) -> HttpResponse:
    """Ask for the password and a code, then remove a passkey.

    Raises:
        Http404: the administrator has no such passkey.

    """
    passkey = _find(request, passkey_id)

    def work(administrator: Administrator) -> HttpResponse:
        passkeys.remove(administrator, passkey.pk)
        messages.success(request, gettext("The passkey is removed."))
        return HttpResponseRedirect(reverse("admin:own-passkeys"))

    return _with_proof(request, _REMOVE, work, about=str(passkey.name))


@never_cache
@require_http_methods(["GET", "POST"])
def rename(request: HttpRequest, passkey_id: UUID) -> HttpResponse:
    """Show the form, or rename a passkey.

    Raises:
        Http404: the administrator has no such passkey.

    """
    passkey = _find(request, passkey_id)
    form = NameForm(request.POST if request.method == "POST" else None, initial={"name": passkey.name})
    if request.method == "POST" and form.is_valid():
        try:
            passkeys.rename(_get_administrator(request), passkey.pk, form.cleaned_data["name"])
        except passkeys.NoSuchPasskey:  # removed meanwhile
            raise Http404 from None
        messages.success(request, gettext("The passkey is renamed."))
        return HttpResponseRedirect(reverse("admin:own-passkeys"))
    return _show(request, _RENAME, form, None)


def _with_proof(
    request: HttpRequest, operation: Operation, then: Callable[[Administrator], HttpResponse], about: str = ""
) -> HttpResponse:
    """Ask for the password and, with a second step, a code, and call ``then`` if they are right."""
    administrator = _get_administrator(request)
    form = proof_form.build(request, administrator)
    refusal = None
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        try:
            sign_in.reauthenticate(administrator, password=fields["password"], code=fields.get("code"))
            return then(administrator)
        except ServiceError as error:
            refusal = error
            proof_form.add_error(form, error)
    return _show(request, operation, form, refusal, row_name=about, row=about)


def _show(
    request: HttpRequest, operation: Operation, form: forms.Form, refusal: ServiceError | None, **more: Any
) -> HttpResponse:
    context = {"title": operation.label, "operation": operation, "form": form, **more}
    context["row_link"] = reverse("admin:own-passkeys")
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    return add_refusal(response, refusal) if request.method == "POST" else response


def _find(request: HttpRequest, passkey_id: UUID) -> AdministratorPasskey:
    administrator = _get_administrator(request)
    try:
        return passkeys.find(administrator, passkey_id)
    except passkeys.NoSuchPasskey:
        raise Http404 from None


def _get_administrator(request: HttpRequest) -> Administrator:
    """Return the administrator that the session check has read. No page of this module changes the row."""
    return cast("Administrator", request.user)
