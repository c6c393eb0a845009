"""The form that sets up an authenticator."""

from django import forms
from django.utils.translation import gettext_lazy as _


class AuthenticatorForm(forms.Form):
    """The first code of an authenticator, and its sealed secret."""

    enrolment = forms.CharField(max_length=2048, widget=forms.HiddenInput)
    code = forms.CharField(max_length=64, error_messages={"required": _("Enter the code.")})
