"""Console pages of administrators, for superusers."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from identity.operator_kit.operations import Operation, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from management.administrators import proof, second_step, services
from management.administrators.models import Administrator, Role
from management.administrators.serializers import AdministratorWriteSerializer


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


def _get_rights(submission: Submission) -> dict[str, Any]:
    fields = {name: value for name, value in submission.fields.items() if name not in ProofForm.base_fields}
    return {**fields, "tenants": submission.fields["tenants"].split()}


def _get_proof(submission: Submission) -> dict[str, Any]:
    return {name: submission.fields[name] for name in ProofForm.base_fields}


def _create(submission: Submission) -> str:
    fields = validate(AdministratorWriteSerializer, _get_rights(submission))
    administrator = services.create(**fields, **_get_proof(submission), by=submission.by)
    return f"The administrator {administrator.username} is created."


def _change(submission: Submission) -> str:
    fields = validate(AdministratorWriteSerializer, _get_rights(submission), submission.row) | _get_proof(
        submission
    )
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return "The administrator is changed."


def _set_password(submission: Submission) -> str:
    password = {"password": submission.fields["password"]}
    fields = _get_proof(submission) | validate(AdministratorWriteSerializer, password, submission.row)
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return "The new password is set; sessions and tokens have ended."


def _reset(submission: Submission) -> str:
    if submission.row.pk != submission.by.pk:  # the service refuses to reset one's own
        fields = submission.fields
        proof.check(submission.by, password=fields["current_password"], code=fields["current_code"])
    second_step.reset(submission.row, by=submission.by)
    return "The second step is removed; sessions and tokens have ended."


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The administrator is deleted."


def _initial(administrator: Administrator) -> dict[str, Any]:
    fields = {name: getattr(administrator, name) for name in ("email", "phone", "is_superuser", "role")}
    slugs = administrator.tenants.order_by("slug").values_list("slug", flat=True)
    return {**fields, "tenants": " ".join(slugs)}


@admin.register(Administrator)
class AdministratorAdmin(Pages):
    section = "Operation"
    at_root = True
    list_display = (
        "username", "email", "role", "is_superuser", "second_step_since", "last_login", "created_at",
    )  # fmt: skip
    list_filter = ("role", "is_superuser")
    search_fields = ("username", "email")
    fields = (
        "id", "username", "email", "phone", "role", "is_superuser", "second_step_since", "last_login",
        "created_at", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit administrator",
            "A new role, or a change of “Manages every tenant”, ends the administrator's browser sessions.",
            _change, form=ChangeForm, initial=_initial,
        ),
        Operation(
            "password", "Set password", "Ends the sessions and tokens of the administrator.",
            _set_password, form=NewPasswordForm,
        ),
        Operation(
            "second-step", "Remove the second step",
            "For an administrator who lost the authenticator. Make sure that you know who is asking: the "
            "password alone is then enough to sign in. Ends the sessions and tokens of the administrator.",
            _reset, form=ProofForm, is_possible=lambda administrator: bool(administrator.second_step_since),
            is_destructive=True,
        ),
        Operation(
            "delete", "Delete administrator",
            "The sessions and tokens of the administrator are refused at once.",
            _remove, is_destructive=True,
        ),
        Operation(
            "create", "Create administrator", "Administrators manage tenants in this console and by the API.",
            _create, form=NewAdministratorForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return administrators without their password hashes and encrypted secrets."""
        return super().get_queryset(request).defer("password", "sealed_totp_secret")

    def parse_id(self, text: str) -> int | None:
        """Return the id of a path, or none if it is not a whole number."""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004

    def get_panels(self, request: Any, row: Administrator) -> list[Panel]:
        """Return the panel of the administrator's tenants."""
        empty = "All of them." if row.is_superuser else "None."
        tenants = row.tenants.order_by("name")
        panel = build_panel(
            "Tenants", ("Tenant", "Slug"), tenants, lambda tenant: (link(tenant), tenant.slug), empty=empty
        )
        return [panel]
