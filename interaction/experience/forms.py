"""What operators fill in about the sign-in experience."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.conf import settings

from identity.users.identifiers import Kind
from identity.users.notices import Notice
from interaction.experience.message_templates import CODES, PURPOSES
from interaction.experience.models import SignInExperience


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
    reject_breached = _flag("Refuse those that are known from a breach (the operator's list)")
    strength_meter = _flag("Show how strong it is while it is typed")


class AccountsForm(forms.Form):
    """What people may do by themselves."""

    username_change = _flag("Take another username")
    deletion = _flag("Delete their account")
    create_users = _flag("Come in by another provider for the first time")
    create_users_while_registration_is_closed = _flag(
        "Come in by another provider for the first time although registration is closed"
    )
    automatic_account_linking = _flag("Be linked by an email address that is verified there and here")
    non_ascii_email_names = _flag("Have new email addresses with letters beyond ASCII before the @")
    sms_countries = forms.CharField(
        required=False,
        max_length=2048,
        label="Countries for text messages",
        help_text="Two letters each, such as DE AT CH. Empty: all countries.",
    )


_KINDS: Final = {Kind.USERNAME: "username", Kind.EMAIL: "email", Kind.PHONE: "phone"}


class WaysForm(forms.Form):
    """By which identifier people sign in, and how."""

    username_password = _flag("Username and password")
    email_password = _flag("Email and password")
    email_code = _flag("Email and a code that is sent there")
    phone_password = _flag("Phone and password")
    phone_code = _flag("Phone and a code that is sent there")


class RegistrationForm(forms.Form):
    """What somebody new is asked for."""

    identifiers = forms.MultipleChoiceField(
        required=False,
        choices=[(kind.value, name.capitalize()) for kind, name in _KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    password = _flag("A password")
    verify = _flag("Email and phone have to be proven with a code")


def ways_of(row: SignInExperience) -> dict[str, Any]:
    """Return the ways of an experience, by the fields of the form."""
    found = {one["identifier"]: one for one in row.sign_in["methods"]}
    off = {"password": False, "verification_code": False}
    return {name: found.get(name.partition("_")[0], off)[_way(name)] for name in WaysForm.base_fields}


def accounts_of(row: SignInExperience) -> dict[str, Any]:
    """Return what people may do in an experience, by the fields of the form."""
    return {**row.account, **row.social_sign_in, "sms_countries": " ".join(row.sms_countries)}


def methods(row: SignInExperience, typed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the ways as the API takes them, in the order in which they are shown so far."""
    shown = [one["identifier"] for one in row.sign_in["methods"]]
    kinds = shown + [kind.value for kind in Kind if kind.value not in shown]
    return [
        {
            "identifier": kind,
            "password": typed[f"{kind}_password"],
            "verification_code": typed.get(f"{kind}_code", False),
        }
        for kind in kinds
    ]


def _way(name: str) -> str:
    return "verification_code" if name.endswith("_code") else "password"


@dataclass(frozen=True, slots=True)
class MessageKey:
    """One kind of message in one language; an empty one stands for every other."""

    purpose: str
    channel: str
    language: str

    @property
    def name(self) -> str:
        """What stands in an address."""
        return f"{self.purpose}-{self.channel}-{self.language or 'any'}"

    @property
    def identity(self) -> dict[str, str]:
        """What the API knows it by."""
        return {"purpose": self.purpose, "channel": self.channel, "language": self.language}

    def __str__(self) -> str:
        return f"{_PURPOSES[self.purpose]}, {_CHANNELS[self.channel]}, {_LANGUAGES[self.language]}"


_PURPOSES: Final = {
    "sign_in": "signing in", "register": "registering", "forgot_password": "a forgotten password",
    "change": "a new address", Notice.IDENTIFIER_REMOVED: "notice of a removed address",
    Notice.PASSWORD_CHANGED: "notice of a new password",
    Notice.ACCOUNT_LINKED: "notice of a linked account",
    Notice.ACCOUNT_UNLINKED: "notice of an unlinked account",
    Notice.EMAIL_CHANGED: "notice of a new email address",
    Notice.PHONE_CHANGED: "notice of a new phone number",
}  # fmt: skip
_CHANNELS: Final = {"email": "email", "sms": "SMS"}
_LANGUAGES: Final = {"": "every other language", **dict(settings.LANGUAGES)}
MESSAGES: Final = [
    MessageKey(purpose, channel, language)
    for purpose in PURPOSES
    for channel in _CHANNELS
    for language in _LANGUAGES
]


class ChooseMessageForm(forms.Form):
    """Which message."""

    message = forms.ChoiceField(
        choices=[
            (f"{purpose}-{channel}", f"{_PURPOSES[purpose].capitalize()}, {_CHANNELS[channel]}")
            for purpose in PURPOSES
            for channel in _CHANNELS
        ]
    )
    language = forms.ChoiceField(required=False, choices=list(_LANGUAGES.items()))


class SmsForm(forms.Form):
    """What a text message says."""

    text = forms.CharField(required=False, max_length=4096, widget=forms.Textarea({"rows": 3}))


class EmailForm(forms.Form):
    """What an email says."""

    subject = forms.CharField(required=False, max_length=256)
    text = forms.CharField(required=False, max_length=4096, widget=forms.Textarea({"rows": 8}))
    html = forms.CharField(
        required=False, max_length=16_384, widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
        label="HTML", help_text="Without it there is only the text.",
    )  # fmt: skip


def message_form(key: MessageKey) -> type[forms.Form]:
    """Return the form for a message."""
    return EmailForm if key.channel == "email" else SmsForm


def placeholders(key: MessageKey) -> str:
    """Say what is filled in where a message has a name in braces."""
    if key.purpose in CODES:
        return "{code} and {name}, the tenant's, are filled in."
    return "{name}, the tenant's, is filled in, and {provider} where an account is linked or unlinked."


def template_of(key: MessageKey, row: SignInExperience) -> dict[str, str]:
    """Return the tenant's own words for a message, empty where it has none."""
    for template in row.message_templates:
        if all(template[name] == value for name, value in key.identity.items()):
            return {name: template.get(name, "") for name in ("subject", "text", "html")}
    return {"subject": "", "text": "", "html": ""}


def templates(row: SignInExperience, key: MessageKey, typed: Mapping[str, str]) -> list[dict[str, str]]:
    """Return all templates with this one as it was typed; without a text it goes."""
    others = [
        template
        for template in row.message_templates
        if any(template[name] != value for name, value in key.identity.items())
    ]
    # Browsers send line breaks as CRLF.
    own = {name: value.replace("\r\n", "\n") for name, value in typed.items()}
    return [*others, {**key.identity, **own}] if any(own.values()) else others
