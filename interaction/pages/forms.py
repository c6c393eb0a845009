"""Forms of the pages."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SignInForm(forms.Form):
    """Identifier and password. Spaces around a password are part of it."""

    identifier = forms.CharField(
        max_length=254, error_messages={"required": _("Enter your username, email or phone.")}
    )
    password = forms.CharField(
        max_length=256, strip=False, error_messages={"required": _("Enter your password.")}
    )
