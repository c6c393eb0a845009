"""Forms of the pages."""

from django import forms


class SignInForm(forms.Form):
    """Identifier and password. Spaces around a password are part of it."""

    identifier = forms.CharField(
        max_length=254, error_messages={"required": "Enter your username, email or phone."}
    )
    password = forms.CharField(
        max_length=256, strip=False, error_messages={"required": "Enter your password."}
    )
