"""Forms of users on the operators' site."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from identity.users import credentials


class PasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=credentials.LONGEST_PASSWORD,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=format_lazy(
            _("{shortest} to {longest} characters. The sign-in experience's other rules do not apply here."),
            shortest=credentials.SHORTEST_PASSWORD,
            longest=credentials.LONGEST_PASSWORD,
        ),
    )


class NewPasswordForm(PasswordForm):
    """A new password, and whether other ways to sign in stay."""

    remove_linked_accounts_and_passkeys = forms.BooleanField(
        label=_("Remove linked accounts and passkeys"),
        required=False,
        help_text=_("If somebody else had access to the account, they may have added some."),
    )


class PersonForm(forms.Form):
    """The name and addresses of a user."""

    name = forms.CharField(label=_("Name"), required=False, max_length=256)
    email = forms.CharField(
        label=_("Email"),
        required=False,
        max_length=254,
        help_text=_("A new email is unverified until the user verifies it."),
    )
    phone = forms.CharField(
        label=_("Phone"),
        required=False,
        max_length=32,
        help_text=_("A new phone number is unverified until the user verifies it."),
    )


class VerificationForm(forms.Form):
    """Whether the addresses of a user are verified."""

    email_verified = forms.BooleanField(
        label=_("Email verified"),
        required=False,
        help_text=_("You vouch that the email address belongs to the user."),
    )
    phone_verified = forms.BooleanField(
        label=_("Phone verified"),
        required=False,
        help_text=_("You vouch that the phone belongs to the user."),
    )


class NewUserForm(VerificationForm, PersonForm, PasswordForm):
    username = forms.CharField(label=_("Username"), max_length=128)

    field_order = ("username", "name", "email", "email_verified", "phone", "phone_verified", "password")
