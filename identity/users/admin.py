"""Users on the operators' site."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from identity.core import impacts
from identity.operator_kit.badges import BAD, GOOD, badge
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.users import (
    account_admin,
    credentials,
    identifiers,
    profile_admin,
    services,
    sign_in_locks,
)
from identity.users.models import User
from identity.users.serializers import UserSerializer


class PasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        strip=False,
        max_length=credentials.LONGEST_PASSWORD,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=f"{credentials.SHORTEST_PASSWORD} to {credentials.LONGEST_PASSWORD} characters.",
    )


class PersonForm(forms.Form):
    """The name and addresses of a user."""

    name = forms.CharField(required=False, max_length=256)
    email = forms.CharField(
        required=False, max_length=254, help_text="A new one is unverified until the user verifies it."
    )
    phone = forms.CharField(
        required=False, max_length=32, help_text="A new one is unverified until the user verifies it."
    )


class VerificationForm(forms.Form):
    """Whether the addresses of a user are verified."""

    email_verified = forms.BooleanField(
        required=False, help_text="You vouch that the email address belongs to the user."
    )
    phone_verified = forms.BooleanField(
        required=False, help_text="You vouch that the phone belongs to the user."
    )


class NewUserForm(VerificationForm, PersonForm, PasswordForm):
    username = forms.CharField(max_length=128)

    field_order = ("username", "name", "email", "email_verified", "phone", "phone_verified", "password")


def _suspend(submission: Submission) -> str:
    services.suspend(submission.row, expected=submission.expected)
    return "The user is suspended; all sessions and refresh tokens have ended."


def _unsuspend(submission: Submission) -> str:
    services.suspend(submission.row, suspended=False, expected=submission.expected)
    return "The user can sign in again."


def _unlock(submission: Submission) -> str:
    sign_in_locks.end(submission.row)
    return "All locks of the user have ended."


def _set_password(submission: Submission) -> str:
    credentials.set_password(submission.row, submission.fields["password"], expected=submission.expected)
    return "The new password is set; all sessions and refresh tokens have ended."


def _change(submission: Submission) -> str:
    user = submission.row
    changes = {name: value for name, value in submission.fields.items() if value != getattr(user, name)}
    fields = validate(UserSerializer, changes, user)
    if fields:
        services.change(user, fields, expected=submission.expected)
    return "The user is changed." if fields else "Nothing was changed."


def _create(submission: Submission) -> ShowRow:
    fields = {name: value for name, value in submission.fields.items() if value}
    user = services.create(
        **validate(UserSerializer, fields), is_vouched_for=submission.by.vouches_for_addresses
    )
    return ShowRow(f"The user {user.username} is created.", user)


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The user is deleted."


@admin.register(User)
class UserAdmin(Pages):
    section = "Users"
    empty = "Create the first user, or import users from a file."
    list_display = ("display_name", "email", "phone", "state", "last_sign_in_at", "created_at")
    list_filter = ("is_suspended", "self_registered", "email_verified", "phone_verified")
    search_fields = ("search_text",)
    search_help_text = "Part of a username, name, email or phone, or a full ID"
    field_groups = (
        ("Account", ("state", "username", "name", "email", "email_verified", "phone", "phone_verified")),
        ("Sign-in", ("has_password", "last_sign_in_at", "login_count", "self_registered")),
        ("Profile", ("profile_text", "custom_data")),
        ("Record", ("created_at", "updated_at", "id")),
    )
    log_filter = "q"
    operations = (
        Operation(
            "change", "Edit user", "Changes the name, email and phone.", _change, form=PersonForm,
            initial=lambda user: {name: getattr(user, name) for name in PersonForm.base_fields},
            sentence="Edit {name}", edits="Account",
        ),
        profile_admin.EDIT,
        Operation(
            "unsuspend", "Reactivate user", "The user can sign in again.",
            _unsuspend, is_possible=lambda user: user.is_suspended, bulk_label=(
                _("Reactivate users"),
                ngettext_lazy("Reactivate %(count)s user", "Reactivate %(count)s users", "count"),
            ),
            bulk_description="The users can sign in again.",
            sentence="Reactivate {name}",
        ),
        Operation(
            "unlock", "Unlock user",
            "Ends the locks after failed sign-ins, for every network and browser. Earlier failures no longer "
            "count.",
            _unlock, bulk_label=(
                _("Unlock users"), ngettext_lazy("Unlock %(count)s user", "Unlock %(count)s users", "count")
            ), sentence="Unlock {name}",
        ),
        Operation(
            "password", "Set password", "Ends every session, refresh token and lock at once.",
            _set_password, form=PasswordForm, sentence="Set password of {name}",
        ),
        Operation(
            "verify", "Verify addresses",
            "Applications read it as email_verified and phone_number_verified. If nothing else proves whose "
            "account it is, its password and sessions end.",
            _change, form=VerificationForm,
            initial=lambda user: {name: getattr(user, name) for name in VerificationForm.base_fields},
            is_possible=lambda user: bool(user.email or user.phone),
        ),
        *account_admin.OPERATIONS,
        Operation(
            "suspend", "Suspend user",
            "Ends every session and refresh token at once. The user cannot sign in until reactivated.",
            _suspend, is_possible=lambda user: not user.is_suspended, is_destructive=True,
            bulk_label=(
                _("Suspend users"),
                ngettext_lazy("Suspend %(count)s user", "Suspend %(count)s users", "count"),
            ), sentence="Suspend {name}", impact=impacts.measure_end,
            bulk_description="Ends every session and refresh token of the users at once. They cannot sign in "
            "until reactivated.",
        ),
        Operation(
            "delete", "Delete user",
            "Permanently deletes this user and their data. Audit entries are kept.",
            _remove, is_destructive=True, bulk_label=(
                _("Delete users"), ngettext_lazy("Delete %(count)s user", "Delete %(count)s users", "count")
            ), sentence="Delete {name}",
            impact=impacts.measure,
            bulk_description="Permanently deletes these users and their data. Audit entries are kept.",
        ),
        Operation(
            "create", "Create user",
            "Email and phone are unverified until the user verifies them, unless you vouch for them.",
            _create, form=NewUserForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search as the API does, which an index supports."""
        if not search_term:
            return queryset, False
        matches = Q(search_text__contains=identifiers.fold(search_term))
        if pk := self.parse_id(search_term.strip()):
            matches |= Q(pk=pk)
        return queryset.filter(matches), False

    @admin.display(description="User")
    def display_name(self, user: User) -> str:
        """Return the name and an identifier."""
        return f"{user.name} ({user.identifier})" if user.name else user.identifier or str(user.pk)

    @admin.display(description="State")
    def state(self, user: User) -> str:
        return badge("Suspended", BAD) if user.is_suspended else badge("Active", GOOD)

    @admin.display(description="Profile")
    def profile_text(self, user: User) -> str:
        """Return the profile, one member on each line."""
        return profile_admin.describe(user) or "-"

    @admin.display(description="Has a password", boolean=True)
    def has_password(self, user: User) -> bool:
        return bool(user.password)
