"""The operators' pages of administrators, for superusers."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel
from management.administrators import invitations_admin, passkeys_admin, proof, second_step, services
from management.administrators.forms import (
    ChangeForm,
    InvitationForm,
    NewAdministratorForm,
    NewPasswordForm,
    ProofForm,
    get_proof,
    get_rights,
)
from management.administrators.models import Administrator, ProviderAccount, parse_id
from management.administrators.serializers import AdministratorWriteSerializer

# The labels of columns: identity/operator_kit/labels.py
_LABELS: Final = (
    gettext_noop("Administrators"), gettext_noop("Username"), gettext_noop("Email"), gettext_noop("Phone"),
    gettext_noop("Role"), gettext_noop("Second step since"), gettext_noop("Created"),
    gettext_noop("Updated"), gettext_noop("ID"),
)  # fmt: skip


def _create(submission: Submission) -> ShowRow:
    fields = validate(AdministratorWriteSerializer, get_rights(submission))
    administrator = services.create(**fields, **get_proof(submission), by=submission.by)
    text = gettext("The administrator %(name)s is created.")
    return ShowRow(text % {"name": administrator.username}, administrator)


def _change(submission: Submission) -> str:
    fields = validate(AdministratorWriteSerializer, get_rights(submission), submission.row) | get_proof(
        submission
    )
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return gettext("The administrator is changed.")


def _set_password(submission: Submission) -> str:
    password = {"password": submission.fields["password"]}
    fields = get_proof(submission) | validate(AdministratorWriteSerializer, password, submission.row)
    services.change(submission.row, fields, expected=submission.expected, by=submission.by)
    return gettext("The new password is set; sessions and tokens have ended.")


def _reset(submission: Submission) -> str:
    if submission.row.pk != submission.by.pk:  # the service refuses to reset one's own
        _check_proof(submission)
    second_step.reset(submission.row, by=submission.by)
    return gettext("The second step is removed; sessions and tokens have ended.")


def _unlink(submission: Submission) -> str:
    _check_proof(submission)
    services.unlink(submission.row, by=submission.by)
    return gettext("The account of the provider is unlinked.")


def _is_linked(administrator: Administrator) -> bool:
    return ProviderAccount.objects.filter(administrator=administrator).exists()


def _remove(submission: Submission) -> str:
    _check_proof(submission)
    services.remove(submission.row, expected=submission.expected, by=submission.by, is_proven=True)
    return gettext("The administrator is deleted.")


def _check_proof(submission: Submission) -> None:
    fields = submission.fields
    proof.check(submission.by, password=fields["current_password"], code=fields["current_code"])


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
        (_("Administrator"), ("username", "email", "phone", "role", "is_superuser")),
        (_("Sign-in"), ("second_step_since", "last_login")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "change", _("Edit administrator"),
            _("A new role, or a change of “Manages every tenant”, ends the administrator's browser "
              "sessions."),
            _change, form=ChangeForm, initial=_initial, sentence=_("Edit {name}"),
            edits=_("Administrator"),
        ),
        Operation(
            "password", _("Set password"), _("Ends the sessions and tokens of the administrator."),
            _set_password, form=NewPasswordForm, sentence=_("Set password of {name}"),
        ),
        Operation(
            "second-step", _("Remove the second step"),
            _("For an administrator who lost the authenticator. Make sure that you know who is asking: the "
              "password alone is then enough to sign in. Ends the sessions and tokens of the administrator."),
            _reset, form=ProofForm, is_possible=lambda administrator: bool(administrator.second_step_since),
            is_destructive=True,
        ),
        passkeys_admin.REMOVE,
        Operation(
            "unlink", _("Unlink single sign-on"),
            _("The administrator can no longer sign in by the provider. Sessions that it started end."),
            _unlink, form=ProofForm, is_possible=_is_linked, is_destructive=True,
        ),
        Operation(
            "delete", _("Delete administrator"),
            _("The sessions and tokens of the administrator are refused at once."),
            _remove, form=ProofForm, is_destructive=True, sentence=_("Delete {name}"),
            impact=impacts.measure,
        ),
        Operation(
            "invite", _("Invite administrator"), invitations_admin.DESCRIPTION,
            invitations_admin.invite, form=InvitationForm, needs_row=False,
        ),
        Operation(
            "create", _("Create administrator"),
            _("Administrators manage tenants on this site and by the API."),
            _create, form=NewAdministratorForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return administrators without their password hashes and encrypted secrets."""
        return super().get_queryset(request).defer("password", "sealed_totp_secret")

    def parse_id(self, text: str) -> int | None:
        """Return the id of a path, or None if it is not a whole number."""
        return parse_id(text)

    def get_panels(self, request: Any, row: Administrator) -> list[Panel]:
        """Return the panels of the administrator's tenants and passkeys."""
        return [invitations_admin.build_tenants_panel(row), passkeys_admin.build_panel(row)]
