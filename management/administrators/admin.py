"""The operators' pages of administrators, for superusers."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from identity.core import impacts
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from management.administrators import invitations_admin, proof, second_step, services, single_sign_on
from management.administrators.forms import (
    ChangeForm,
    InvitationForm,
    NewAdministratorForm,
    NewPasswordForm,
    ProofForm,
    get_proof,
    get_rights,
)
from management.administrators.models import Administrator, ProviderAccount
from management.administrators.serializers import AdministratorWriteSerializer


def _create(submission: Submission) -> ShowRow:
    fields = validate(AdministratorWriteSerializer, get_rights(submission))
    administrator = services.create(**fields, **get_proof(submission), by=submission.by)
    return ShowRow(f"The administrator {administrator.username} is created.", administrator)


def _change(submission: Submission) -> str:
    fields = validate(AdministratorWriteSerializer, get_rights(submission), submission.row) | get_proof(
        submission
    )
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return "The administrator is changed."


def _set_password(submission: Submission) -> str:
    password = {"password": submission.fields["password"]}
    fields = get_proof(submission) | validate(AdministratorWriteSerializer, password, submission.row)
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return "The new password is set; sessions and tokens have ended."


def _reset(submission: Submission) -> str:
    if submission.row.pk != submission.by.pk:  # the service refuses to reset one's own
        fields = submission.fields
        proof.check(submission.by, password=fields["current_password"], code=fields["current_code"])
    second_step.reset(submission.row, by=submission.by)
    return "The second step is removed; sessions and tokens have ended."


def _unlink(submission: Submission) -> str:
    single_sign_on.unlink(submission.row)
    return "The account of the provider is unlinked."


def _is_linked(administrator: Administrator) -> bool:
    return ProviderAccount.objects.filter(administrator=administrator).exists()


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The administrator is deleted."


def _initial(administrator: Administrator) -> dict[str, Any]:
    fields = {name: getattr(administrator, name) for name in ("email", "phone", "is_superuser", "role")}
    slugs = administrator.tenants.order_by("slug").values_list("slug", flat=True)
    return {**fields, "tenants": " ".join(slugs)}


@admin.register(Administrator)
class AdministratorAdmin(Pages):
    section = "Settings"
    place = 1
    at_root = True
    list_display = (
        "username", "email", "role", "is_superuser", "second_step_since", "last_login", "created_at",
    )  # fmt: skip
    list_filter = ("role", "is_superuser")
    search_fields = ("username", "email")
    field_groups = (
        ("Administrator", ("username", "email", "phone", "role", "is_superuser")),
        ("Sign-in", ("second_step_since", "last_login")),
        ("Record", ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "change", "Edit administrator",
            "A new role, or a change of “Manages every tenant”, ends the administrator's browser sessions.",
            _change, form=ChangeForm, initial=_initial, sentence="Edit {name}",
        ),
        Operation(
            "password", "Set password", "Ends the sessions and tokens of the administrator.",
            _set_password, form=NewPasswordForm, sentence="Set password of {name}",
        ),
        Operation(
            "second-step", "Remove the second step",
            "For an administrator who lost the authenticator. Make sure that you know who is asking: the "
            "password alone is then enough to sign in. Ends the sessions and tokens of the administrator.",
            _reset, form=ProofForm, is_possible=lambda administrator: bool(administrator.second_step_since),
            is_destructive=True,
        ),
        Operation(
            "unlink", "Unlink single sign-on",
            "The administrator can no longer sign in by the provider. Sessions that it started end.",
            _unlink, is_possible=_is_linked, is_destructive=True,
        ),
        Operation(
            "delete", "Delete administrator",
            "The sessions and tokens of the administrator are refused at once.",
            _remove, is_destructive=True, sentence="Delete {name}", impact=impacts.measure,
        ),
        Operation(
            "invite", "Invite administrator", invitations_admin.SAYS, invitations_admin.invite,
            form=InvitationForm, needs_row=False,
        ),
        Operation(
            "create", "Create administrator", "Administrators manage tenants on this site and by the API.",
            _create, form=NewAdministratorForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return administrators without their password hashes and encrypted secrets."""
        return super().get_queryset(request).defer("password", "sealed_totp_secret")

    def parse_id(self, text: str) -> int | None:
        """Return the id of a path, or None if it is not a whole number."""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004

    def get_panels(self, request: Any, row: Administrator) -> list[Panel]:
        """Return the panel of the administrator's tenants."""
        empty = "All of them." if row.is_superuser else "None."
        tenants = row.tenants.order_by("name")
        panel = build_panel(
            "Tenants", ("Tenant", "Slug"), tenants, lambda tenant: (link(tenant), tenant.slug), empty=empty
        )
        return [panel]
