"""Users on the operators' site."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from identity.operator_kit.operations import Operation, Order, checked
from identity.operator_kit.pages import Pages
from identity.users import credentials, failed_sign_ins, identifiers, services  # noqa: F401 - a panel
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
    email = forms.CharField(required=False, max_length=254, help_text="A new one is unverified at first.")
    phone = forms.CharField(required=False, max_length=32, help_text="A new one is unverified at first.")


class NewUserForm(PersonForm, PasswordForm):
    username = forms.CharField(max_length=128)

    field_order = ("username", "name", "email", "phone", "password")


def _suspend(order: Order) -> str:
    services.suspend(order.row, expected=order.expected)
    return "The user is suspended; all sessions and refresh tokens have ended."


def _unsuspend(order: Order) -> str:
    services.suspend(order.row, suspended=False, expected=order.expected)
    return "The user may sign in again."


def _set_password(order: Order) -> str:
    credentials.set_password(order.row, order.fields["password"], expected=order.expected)
    return "The new password is set; all sessions and refresh tokens have ended."


def _change(order: Order) -> str:
    changed = {name: value for name, value in order.fields.items() if value != getattr(order.row, name)}
    fields = checked(UserSerializer, changed, order.row)
    if fields:
        services.change(order.row, fields, expected=order.expected)
    return "The user is changed." if fields else "Nothing was changed."


def _create(order: Order) -> str:
    fields = {name: value for name, value in order.fields.items() if value}
    services.create(**checked(UserSerializer, fields), is_vouched_for=order.by.vouches_for_addresses)
    return f"The user {order.fields['username']} is created."


def _remove(order: Order) -> str:
    services.remove(order.row, expected=order.expected)
    return "The user is deleted."


@admin.register(User)
class UserAdmin(Pages):
    """Users."""

    section = "People"
    list_display = ("who", "email", "phone", "state", "last_sign_in_at", "created_at")
    list_filter = ("is_suspended", "self_registered", "email_verified", "phone_verified")
    search_fields = ("search_text",)
    search_help_text = "Part of a username, name, email or phone, or a whole id"
    shown = (
        "id", "username", "name", "email", "email_verified", "phone", "phone_verified", "state",
        "has_password", "last_sign_in_at", "login_count", "self_registered", "custom_data", "created_at",
        "updated_at",
    )  # fmt: skip
    log_filter = "user_id"
    operations = (
        Operation(
            "suspend", "Suspend",
            "Ends every session and refresh token at once. Nobody signs in to the account until you undo it.",
            _suspend, possible=lambda user: not user.is_suspended, grave=True, in_bulk=True,
        ),
        Operation(
            "unsuspend", "Let in again", "The person may sign in again.",
            _unsuspend, possible=lambda user: user.is_suspended, in_bulk=True,
        ),
        Operation(
            "password", "Set a password", "Ends every session and refresh token at once.",
            _set_password, form=PasswordForm,
        ),
        Operation(
            "change", "Edit", "Names and addresses of the person.", _change, form=PersonForm,
            initial=lambda user: {name: getattr(user, name) for name in PersonForm.base_fields},
        ),
        Operation(
            "delete", "Delete",
            "Deletes the account with all that is the person's. Only the audit log stays.",
            _remove, grave=True, in_bulk=True,
        ),
        Operation(
            "create", "New user", "Email and phone stay unverified until the person proves them.",
            _create, form=NewUserForm, row_needed=False,
        ),
    )  # fmt: skip

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search as the API does, which an index supports."""
        if not search_term:
            return queryset, False
        found = Q(search_text__contains=identifiers.fold(search_term))
        if pk := self.parsed(search_term.strip()):
            found |= Q(pk=pk)
        return queryset.filter(found), False

    @admin.display(description="User")
    def who(self, user: User) -> str:
        """Return the name and an identifier."""
        return f"{user.name} ({user.identifier})" if user.name else user.identifier or str(user.pk)

    @admin.display(description="State")
    def state(self, user: User) -> str:
        return "Suspended" if user.is_suspended else "Active"

    @admin.display(description="Has a password", boolean=True)
    def has_password(self, user: User) -> bool:
        return bool(user.password)
