"""The sign-in experience, for operators."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from identity.core import tenancy
from identity.core.admin import Pages
from identity.core.operations import Operation, Order, checked
from interaction.experience import services
from interaction.experience.models import SignInExperience
from interaction.experience.serializers import ExperienceSerializer


def _address(label: str) -> forms.CharField:
    return forms.CharField(required=False, max_length=2048, label=label, help_text="https, or nothing")


def _flag(label: str) -> forms.BooleanField:
    return forms.BooleanField(required=False, label=label)


class LookForm(forms.Form):
    """How the pages look."""

    logo_url = _address("Logo")
    dark_logo_url = _address("Logo on dark ground")
    favicon = _address("Icon")
    primary_color = forms.CharField(required=False, max_length=7, label="Colour", help_text="Such as #0a84ff")
    dark_primary_color = forms.CharField(required=False, max_length=7, label="Colour on dark ground")
    terms_of_use_url = _address("Terms of use")
    privacy_policy_url = _address("Privacy policy")


class PasswordsForm(forms.Form):
    """What a password that people choose must have."""

    min_length = forms.IntegerField(label="Least characters")
    require_lowercase = _flag("A lower-case letter")
    require_uppercase = _flag("An upper-case letter")
    require_numbers = _flag("A digit")
    require_special_chars = _flag("Something else")
    reject_common = _flag("Refuse the 20,000 that are guessed first")
    strength_meter = _flag("Show how strong it is while it is typed")


class AccountsForm(forms.Form):
    """What people may do by themselves."""

    username_change = _flag("Take another username")
    deletion = _flag("Delete their account")
    create_users = _flag("Come in by another provider for the first time")
    automatic_account_linking = _flag("Be linked by an email address that is verified there and here")


_LINKS = ("terms_of_use_url", "privacy_policy_url")
_SOCIAL = ("create_users", "automatic_account_linking")


def _save(order: Order, sent: dict[str, Any]) -> str:
    services.change(checked(ExperienceSerializer, sent, order.row), expected=order.expected)
    return "The sign-in experience is changed."


def _look(order: Order) -> str:
    branding = {name: value for name, value in order.fields.items() if name not in _LINKS}
    return _save(order, {"branding": branding, **{name: order.fields[name] for name in _LINKS}})


def _passwords(order: Order) -> str:
    return _save(order, {"password_policy": dict(order.fields)})


def _accounts(order: Order) -> str:
    social = {name: order.fields[name] for name in _SOCIAL}
    account = {name: value for name, value in order.fields.items() if name not in _SOCIAL}
    return _save(order, {"account": account, "social_sign_in": social})


@admin.register(SignInExperience)
class SignInExperienceAdmin(Pages):
    """The one sign-in experience of the tenant."""

    section = "Signing in"
    title = "Sign-in experience"
    shown = (
        "preview", "look", "terms_of_use_url", "privacy_policy_url", "ways", "registration", "passwords",
        "accounts", "social", "messages", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "look", "Edit the look", "Logo, colours and links of every page people meet.", _look,
            form=LookForm,
            initial=lambda row: {**row.branding, **{name: getattr(row, name) for name in _LINKS}},
        ),
        Operation(
            "passwords", "Edit the password policy", "Passwords that people have already stay as they are.",
            _passwords, form=PasswordsForm, initial=lambda row: row.password_policy,
        ),
        Operation(
            "accounts", "Edit what people may do", "On their account page, and with other providers.",
            _accounts, form=AccountsForm, initial=lambda row: {**row.account, **row.social_sign_in},
        ),
    )  # fmt: skip

    def name_of(self, row: Any) -> str:
        """Return the same for every tenant: it has just one."""
        return self.title

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Go to the one there is."""
        one = services.current()
        return HttpResponseRedirect(reverse("admin:experience_signinexperience_change", args=[one.pk]))

    @admin.display(description="Preview")
    def preview(self, row: SignInExperience) -> str:
        """A link to the real page."""
        return format_html(
            '<a href="{}/sign-in" target="_blank" rel="noopener">The sign-in page, as people see it</a>',
            tenancy.active().issuer,
        )

    @admin.display(description="Look")
    def look(self, row: SignInExperience) -> str:
        """Logo and colours."""
        return _lines(row.branding) or "Our own, quiet look"

    @admin.display(description="Ways to sign in")
    def ways(self, row: SignInExperience) -> str:
        """Which identifiers, and how."""
        names = {"password": "password", "verification_code": "code"}
        return "\n".join(
            f"{one['identifier']}: {' or '.join(text for name, text in names.items() if one[name]) or 'off'}"
            for one in row.sign_in["methods"]
        )

    @admin.display(description="Registration")
    def registration(self, row: SignInExperience) -> str:
        """What it asks for."""
        return _lines(row.sign_up)

    @admin.display(description="Password policy")
    def passwords(self, row: SignInExperience) -> str:
        """What a password must have."""
        return _lines(row.password_policy)

    @admin.display(description="Account page")
    def accounts(self, row: SignInExperience) -> str:
        """What people may do by themselves."""
        return _lines(row.account)

    @admin.display(description="Other providers")
    def social(self, row: SignInExperience) -> str:
        """What becomes of people who come from them."""
        return _lines(row.social_sign_in)

    @admin.display(description="Own message templates")
    def messages(self, row: SignInExperience) -> int:
        """How many there are."""
        return len(row.message_templates)


def _lines(settings: dict[str, Any]) -> str:
    """Write settings one a line; those that are empty are left out."""
    return "\n".join(
        f"{name.replace('_', ' ')}: {_word(value)}" for name, value in settings.items() if value != ""
    )


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return value if isinstance(value, str) else json.dumps(value)
