"""The forms with which administrators re-authenticate before they change their own account."""

from typing import cast

from django import forms
from django.contrib.auth.middleware import get_user
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import translate
from management.administrators import second_step, sign_in
from management.administrators.models import Administrator
from management.site.sign_in import to_sentence


class PasswordForm(forms.Form):
    """The password."""

    password = forms.CharField(
        label=_("Your password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip


class SecondStepForm(forms.Form):
    """A code of the second step, for forms with other fields."""

    code = forms.CharField(
        label=_("Code"), max_length=64,
        widget=forms.TextInput({"autocomplete": "one-time-code", "spellcheck": "false"}),
    )  # fmt: skip


class TwoStepForm(SecondStepForm, PasswordForm):
    """The password, and a code of the second step."""


def get_administrator(request: HttpRequest) -> Administrator:
    """Return the row that the session check has read, which services can change; ``request.user`` is lazy."""
    return cast("Administrator", get_user(request))


def build(request: HttpRequest, administrator: Administrator) -> PasswordForm:
    """Return the form for the password and, with a second step, a code."""
    return (TwoStepForm if administrator.second_step_since else PasswordForm)(request.POST or None)


def add_error(form: forms.Form, error: ServiceError, *, field: str = "password") -> None:
    """Add an error to the field that it is about, or to the form. ``field`` has the current password."""
    if isinstance(error, Invalid) and error.field in form.fields:
        form.add_error(error.field, translate(error.rule))
    elif isinstance(error, second_step.WrongCode):
        form.add_error("code", to_sentence(error))
    else:
        form.add_error(field if isinstance(error, sign_in.WrongCredentials) else None, to_sentence(error))
