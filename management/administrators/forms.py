"""The forms of administrators and invitations."""

from typing import Any

from django import forms

from identity.operator_kit.operations import Submission
from management.administrators.models import Role


class PasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        strip=False, max_length=256, widget=forms.PasswordInput({"autocomplete": "new-password"})
    )


class ProofForm(forms.Form):
    """The acting administrator's own password and code."""

    current_password = forms.CharField(
        label="Your own password", strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip
    current_code = forms.CharField(
        label="Your own code", required=False, max_length=64,
        help_text="The code of your authenticator, if you have set one up.",
        widget=forms.TextInput({"autocomplete": "one-time-code", "spellcheck": "false"}),
    )  # fmt: skip


class NewPasswordForm(PasswordForm, ProofForm):
    """A new password, and the acting administrator's own password and code."""

    password = forms.CharField(
        label="New password", strip=False, max_length=256,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )  # fmt: skip

    field_order = ("password", "current_password", "current_code")


class RightsForm(forms.Form):
    """The rights and contact data of an administrator."""

    email = forms.CharField(required=False, max_length=254)
    phone = forms.CharField(required=False, max_length=64)
    is_superuser = forms.BooleanField(required=False, label="Manages every tenant")
    role = forms.ChoiceField(
        choices=[(role.value, role.label) for role in Role],
        help_text="Auditors read. Support also changes users and sessions. Administrators do everything.",
    )
    tenants = forms.CharField(required=False, help_text="Slugs of the managed tenants, separated by spaces.")


class ChangeForm(RightsForm, ProofForm):
    """Rights and contact data, and the acting administrator's own password and code."""

    current_password = forms.CharField(
        label="Your own password", required=False, strip=False, max_length=256,
        help_text="Needed to change what the administrator may do.",
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip

    field_order = (*RightsForm.base_fields, *ProofForm.base_fields)


class NewAdministratorForm(RightsForm, PasswordForm, ProofForm):
    """A new administrator, and the acting administrator's own password and code."""

    username = forms.CharField(max_length=128)

    field_order = ("username", "password", *ChangeForm.field_order)


class InvitationForm(RightsForm, ProofForm):
    """The email and the rights of an invited person, and the acting administrator's own password and code."""

    email = forms.CharField(max_length=254, help_text="The invitation is sent to this address.")
    phone = None  # type: ignore[assignment]  # the invited person has none yet

    field_order = ("email", "is_superuser", "role", "tenants", *ProofForm.base_fields)


def get_rights(submission: Submission) -> dict[str, Any]:
    """Return the fields of a form but the proof, with the slugs of tenants as a list."""
    fields = {name: value for name, value in submission.fields.items() if name not in ProofForm.base_fields}
    return {**fields, "tenants": submission.fields["tenants"].split()}


def get_proof(submission: Submission) -> dict[str, Any]:
    """Return the acting administrator's own password and code."""
    return {name: submission.fields[name] for name in ProofForm.base_fields}
