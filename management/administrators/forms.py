"""The forms of administrators and invitations."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Submission
from management.administrators.models import Role


class PasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        label=_("Password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip


class ProofForm(forms.Form):
    """The acting administrator's own password and code."""

    current_password = forms.CharField(
        label=_("Your own password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip
    current_code = forms.CharField(
        label=_("Your own code"), required=False, max_length=64,
        help_text=_("The code of your authenticator, if you have set one up."),
        widget=forms.TextInput({"autocomplete": "one-time-code", "spellcheck": "false"}),
    )  # fmt: skip


class NewPasswordForm(PasswordForm, ProofForm):
    """A new password, and the acting administrator's own password and code."""

    password = forms.CharField(
        label=_("New password"), strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip

    field_order = ("password", "current_password", "current_code")


class RightsForm(forms.Form):
    """The rights and contact data of an administrator."""

    email = forms.CharField(label=_("Email"), required=False, max_length=254)
    phone = forms.CharField(label=_("Phone"), required=False, max_length=64)
    is_superuser = forms.BooleanField(required=False, label=_("Manages every tenant"))
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[(role.value, role.label) for role in Role],
        help_text=_("Auditors read. Support also changes users and sessions. Administrators do everything."),
    )
    tenants = forms.CharField(
        label=_("Tenants"), required=False,
        help_text=_("Slugs of the managed tenants, separated by spaces."),
    )  # fmt: skip


class ChangeForm(RightsForm, ProofForm):
    """Rights and contact data, and the acting administrator's own password and code."""

    current_password = forms.CharField(
        label=_("Your own password"), required=False, strip=False, max_length=256,
        help_text=_("Needed to change what the administrator may do."),
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip

    field_order = (*RightsForm.base_fields, *ProofForm.base_fields)


class NewAdministratorForm(RightsForm, PasswordForm, ProofForm):
    """A new administrator, and the acting administrator's own password and code."""

    username = forms.CharField(label=_("Username"), max_length=128)

    field_order = ("username", "password", *ChangeForm.field_order)


class InvitationForm(RightsForm, ProofForm):
    """The email and the rights of an invited person, and the acting administrator's own password and code."""

    email = forms.CharField(
        label=_("Email"), max_length=254, help_text=_("The invitation is sent to this address.")
    )
    phone = None  # type: ignore[assignment]  # the invited person has none yet

    field_order = ("email", "is_superuser", "role", "tenants", *ProofForm.base_fields)


def get_rights(submission: Submission) -> dict[str, Any]:
    """Return the fields of a form without the proof, and the slugs of tenants as a list."""
    fields = {name: value for name, value in submission.fields.items() if name not in ProofForm.base_fields}
    return {**fields, "tenants": submission.fields["tenants"].split()}


def get_proof(submission: Submission) -> dict[str, Any]:
    """Return the acting administrator's own password and code."""
    return {name: submission.fields[name] for name in ProofForm.base_fields}
