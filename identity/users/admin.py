"""Users on the operators' site."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop, ngettext_lazy, pgettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.core.proof import TokenTooOld
from identity.operator_kit.badges import BAD, GOOD, WARNING, badge
from identity.operator_kit.breaks import break_after_at
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.users import (
    account_admin,
    assigned_passwords,
    code_factors,
    factor_bits,
    profile_admin,
    services,
    sign_in_locks,
)
from identity.users.forms import NewPasswordForm, NewUserForm, PersonForm, VerificationForm
from identity.users.models import User
from identity.users.search import match_users
from identity.users.serializers import UserSerializer

# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (gettext_noop("Suspended"),)


def _suspend(submission: Submission) -> str:
    services.suspend(submission.row, expected=submission.expected)
    return gettext("The user is suspended; all sessions and refresh tokens have ended.")


def _reactivate(submission: Submission) -> str:
    services.reactivate(submission.row, expected=submission.expected)
    return gettext("The user can sign in again.")


def _unlock(submission: Submission) -> str:
    ends_all = submission.by.ends_second_factor_locks
    # Failures that have not locked yet are kept without a proof, too: they bound the guesses.
    if ends_all and not submission.is_proven and sign_in_locks.are_second_factors_locked(submission.row):
        raise TokenTooOld
    sign_in_locks.end(submission.row, of_second_factors=ends_all and submission.is_proven)
    if ends_all:
        return gettext("All locks of the user have ended.")
    return gettext("The locks after wrong passwords have ended. A lock of second factors stays.")


def _set_password(submission: Submission) -> str:
    assigned_passwords.set_password(
        submission.row,
        submission.fields["password"],
        remove_others=submission.fields["remove_linked_accounts_and_passkeys"],
        expected=submission.expected,
        is_proven=submission.is_proven,
    )
    return gettext("The new password is set; all sessions and refresh tokens have ended.")


def _change(submission: Submission) -> str:
    user = submission.row
    changes = {name: value for name, value in submission.fields.items() if value != getattr(user, name)}
    fields = validate(UserSerializer, changes, user)
    if fields:
        services.change(user, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The user is changed.") if fields else gettext("Nothing was changed.")


def _has_passkey(user: User) -> bool:
    """Return whether a new password may remove passkeys."""
    return factor_bits.have_passkey(user.factors)


def _moves_codes(_user: User) -> bool:
    """Return whether a changed address may get codes of second factors."""
    return bool(code_factors.find_kinds())


def _create(submission: Submission) -> ShowRow:
    fields = {name: value for name, value in submission.fields.items() if value}
    user = services.create(
        **validate(UserSerializer, fields), is_vouched_for=submission.by.vouches_for_addresses
    )
    return ShowRow(gettext("The user %(name)s is created.") % {"name": user.username}, user)


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return gettext("The user is deleted.")


@admin.display(description=_("Email"), ordering="email")
def email(user: User) -> str:
    """Return the email, which may be broken after its @."""
    return break_after_at(user.email or "")


@admin.register(User)
class UserAdmin(Pages):
    section = "Users"
    empty = _("Create the first user, or import users from a file.")
    list_display = ("display_name", email, "phone", "state", "last_sign_in_at", "created_at")
    list_filter = ("is_suspended", "self_registered", "email_verified", "phone_verified")
    search_fields = ("search_text",)
    search_help_text = _("Part of a username, name, email or phone, or a full ID")
    field_groups = (
        (_("Account"), ("state", "username", "name", "email", "email_verified", "phone", "phone_verified")),
        (_("Sign-in"), ("has_password", "last_sign_in_at", "login_count", "self_registered")),
        (_("Profile"), ("profile_text", "custom_data")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    log_filter = "q"
    operations = (
        Operation(
            "change", _("Edit user"), _("Changes the name, email and phone."), _change, form=PersonForm,
            initial=lambda user: {name: getattr(user, name) for name in PersonForm.base_fields},
            sentence=_("Edit {name}"), edits=_("Account"), needs_proof=_moves_codes,
        ),
        profile_admin.EDIT,
        Operation(
            "reactivate", _("Reactivate user"), _("The user can sign in again."),
            _reactivate, is_possible=lambda user: user.is_suspended,
            bulk_label=(
                _("Reactivate users"),
                ngettext_lazy("Reactivate %(count)s user", "Reactivate %(count)s users", "count"),
            ),
            bulk_description=_("The users can sign in again."),
            sentence=_("Reactivate {name}"),
        ),
        Operation(
            "unlock", _("Unlock user"),
            _("Ends the locks after failed sign-ins, for every network and browser. Earlier failures no "
              "longer count."),
            _unlock, sentence=_("Unlock {name}"), is_useful=sign_in_locks.is_locked,
            bulk_label=(
                _("Unlock users"), ngettext_lazy("Unlock %(count)s user", "Unlock %(count)s users", "count"),
            ),
        ),
        Operation(
            "password", _("Set password"), _("Ends every session, refresh token and lock at once."),
            _set_password, form=NewPasswordForm, sentence=_("Set password of {name}"),
            needs_proof=_has_passkey,
        ),
        Operation(
            "verify", _("Verify addresses"),
            _("Applications read it as email_verified and phone_number_verified. If nothing else proves "
              "whose account it is, its password and sessions end."),
            _change, form=VerificationForm,
            initial=lambda user: {name: getattr(user, name) for name in VerificationForm.base_fields},
            is_possible=lambda user: bool(user.email or user.phone),
            needs_proof=_moves_codes,
        ),
        *account_admin.OPERATIONS,
        Operation(
            "suspend", _("Suspend user"),
            _("Ends every session and refresh token at once. The user cannot sign in until reactivated."),
            _suspend, is_possible=lambda user: not user.is_suspended, is_destructive=True,
            sentence=_("Suspend {name}"), impact=impacts.measure_end,
            bulk_label=(
                _("Suspend users"),
                ngettext_lazy("Suspend %(count)s user", "Suspend %(count)s users", "count"),
            ),
            bulk_description=_("Ends every session and refresh token of the users at once. They cannot sign "
                               "in until reactivated."),
        ),
        Operation(
            "delete", _("Delete user"),
            _("Permanently deletes this user and their data. Audit entries are kept."),
            _remove, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
            bulk_label=(
                _("Delete users"), ngettext_lazy("Delete %(count)s user", "Delete %(count)s users", "count"),
            ),
            bulk_description=_("Permanently deletes these users and their data. Audit entries are kept."),
        ),
        Operation(
            "create", _("Create user"),
            _("Email and phone are unverified until the user verifies them, unless you vouch for them."),
            _create, form=NewUserForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search as the API does, which an index supports."""
        if not search_term:
            return queryset, False
        matches = match_users(search_term)
        if pk := self.parse_id(search_term.strip()):
            matches |= Q(pk=pk)
        return queryset.filter(matches), False

    @admin.display(description=_("User"))
    def display_name(self, user: User) -> str:
        """Return the name with an identifier below it."""
        if not user.name:
            return user.identifier or str(user.pk)
        return format_html(
            '<bdi>{}</bdi> <span class="second"><bdi>{}</bdi></span>', user.name, user.identifier
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list, with the users who are locked."""
        response = super().changelist_view(request, extra_context)
        if changelist := getattr(response, "context_data", {}).get("cl"):
            users = list(changelist.result_list)
            locked = sign_in_locks.find_locked(users)
            for user in users:
                user.is_locked = user.pk in locked  # read by ``state``
            changelist.result_list = users
        return response

    @admin.display(description=_("State"))
    def state(self, user: User) -> str:
        if user.is_suspended:
            return badge(pgettext("user", "Suspended"), BAD)
        is_locked = getattr(user, "is_locked", None)  # set by changelist_view
        if sign_in_locks.get_locks(user) if is_locked is None else is_locked:
            return badge(pgettext("user", "Locked"), WARNING)
        return badge(pgettext("user", "Active"), GOOD)

    @admin.display(description=_("Profile"))
    def profile_text(self, user: User) -> str:
        """Return the profile, one member on each line."""
        return profile_admin.describe(user) or "-"

    @admin.display(description=_("Has a password"), boolean=True)
    def has_password(self, user: User) -> bool:
        return bool(user.password)
