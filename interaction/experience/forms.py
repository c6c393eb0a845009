"""The operators' forms of the sign-in experience."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.texts import Text
from identity.users.identifiers import Kind
from identity.users.notices import Notice
from identity.users.profile import TEXTS
from identity.users.profile_admin import get_label
from interaction.experience import terms
from interaction.experience.message_names import PURPOSE_NAMES
from interaction.experience.message_templates import CODES, PURPOSES
from interaction.experience.models import SignInExperience


def _flag(label: Any) -> forms.BooleanField:
    return forms.BooleanField(required=False, label=label)


class PasswordsForm(forms.Form):
    """The rules for passwords that users choose."""

    min_length = forms.IntegerField(label=_("Minimum length"))
    require_lowercase = _flag(_("A lower-case letter"))
    require_uppercase = _flag(_("An upper-case letter"))
    require_numbers = _flag(_("A digit"))
    require_special_chars = _flag(_("A symbol"))
    reject_common = _flag(_("Refuse the 20,000 most common passwords"))
    reject_breached = _flag(_("Refuse passwords known from data breaches (the operator's list)"))
    strength_meter = _flag(_("Show the strength of a password while it is typed"))


class AccountsForm(forms.Form):
    """What users may do without an administrator."""

    username_change = _flag(_("Change their username"))
    deletion = _flag(_("Delete their account"))
    create_users = _flag(_("Create an account by signing in with another provider"))
    create_users_while_registration_is_closed = _flag(
        _("Create an account by signing in with another provider while registration is closed")
    )
    automatic_account_linking = _flag(
        _("Sign in with another provider to the account with the same email address, if both verified it")
    )
    non_ascii_email_names = _flag(_("Use new email addresses with non-ASCII characters before the @"))
    profile_fields = forms.MultipleChoiceField(
        required=False,
        choices=lambda: [(name, get_label(name)) for name in TEXTS],
        label=_("Members of the profile on the account page and the registration page"),
        widget=forms.CheckboxSelectMultiple,
    )
    sms_countries = forms.CharField(
        required=False,
        max_length=2048,
        label=_("Countries for text messages"),
        help_text=_("Two-letter codes, for example DE AT CH. Leave it empty for all countries."),
    )


KINDS: Final = {Kind.USERNAME: _("Username"), Kind.EMAIL: _("Email"), Kind.PHONE: _("Phone")}


class SignInMethodsForm(forms.Form):
    """The identifiers and methods with which users sign in."""

    username_password = _flag(_("Username and password"))
    email_password = _flag(_("Email and password"))
    email_code = _flag(_("Email and a code sent by email"))
    phone_password = _flag(_("Phone and password"))
    phone_code = _flag(_("Phone and a code sent by text message"))


class RegistrationForm(forms.Form):
    """The fields of the registration page."""

    identifiers = forms.MultipleChoiceField(
        label=_("Identifiers"),
        required=False,
        choices=[(kind.value, name) for kind, name in KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    password = _flag(_("A password"))
    verify = _flag(_("Email and phone have to be verified with a code"))
    agree_to_terms = _flag(_("A checkbox to agree to the terms of use and the privacy policy"))


def sign_in_methods_initial(row: SignInExperience) -> dict[str, Any]:
    """Return the initial values of ``SignInMethodsForm``."""
    methods = {method["identifier"]: method for method in row.sign_in["methods"]}
    off = {"password": False, "verification_code": False}
    return {
        name: methods.get(name.partition("_")[0], off)[_method(name)]
        for name in SignInMethodsForm.base_fields
    }


def registration_initial(row: SignInExperience) -> dict[str, Any]:
    """Return the initial values of ``RegistrationForm``."""
    return {**row.sign_up, "agree_to_terms": row.sign_up.get("agree_to_terms") == terms.MANUAL}


def build_sign_up(submitted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the submitted fields of the registration page in the format of the API."""
    return {**submitted, "agree_to_terms": terms.MANUAL if submitted["agree_to_terms"] else terms.AUTOMATIC}


def accounts_initial(row: SignInExperience) -> dict[str, Any]:
    """Return the initial values of ``AccountsForm``."""
    return {**row.account, **row.social_sign_in, "sms_countries": " ".join(row.sms_countries)}


def build_methods(row: SignInExperience, submitted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the submitted sign-in methods in the format of the API and in the stored order."""
    stored = [method["identifier"] for method in row.sign_in["methods"]]
    kinds = stored + [kind.value for kind in Kind if kind.value not in stored]
    return [
        {
            "identifier": kind,
            "password": submitted[f"{kind}_password"],
            "verification_code": submitted.get(f"{kind}_code", False),
        }
        for kind in kinds
    ]


def _method(name: str) -> str:
    return "verification_code" if name.endswith("_code") else "password"


@dataclass(frozen=True, slots=True)
class MessageKey:
    """A kind of message in one language. An empty language stands for all other languages."""

    purpose: str
    channel: str
    language: str

    @property
    def name(self) -> str:
        """The key in a URL."""
        return f"{self.purpose}-{self.channel}-{self.language or 'any'}"

    @property
    def identity(self) -> dict[str, str]:
        """The members that identify the message's template in the API."""
        return {"purpose": self.purpose, "channel": self.channel, "language": self.language}

    def __str__(self) -> str:
        return f"{PURPOSE_NAMES[self.purpose]}, {_CHANNELS[self.channel]}, {_LANGUAGES[self.language]}"


_CHANNELS: Final = {"email": _("email"), "sms": _("SMS")}
_LANGUAGES: Final = {"": _("every other language"), **dict(settings.LANGUAGES)}
MESSAGES: Final = [
    MessageKey(purpose, channel, language)
    for purpose in PURPOSES
    for channel in _CHANNELS
    for language in _LANGUAGES
]


def _list_messages() -> list[tuple[str, str]]:
    return [
        (f"{purpose}-{channel}", capfirst(f"{PURPOSE_NAMES[purpose]}, {_CHANNELS[channel]}"))
        for purpose in PURPOSES
        for channel in _CHANNELS
    ]


class ChooseMessageForm(forms.Form):
    """The message to edit."""

    message = forms.ChoiceField(label=_("Message"), choices=_list_messages)
    language = forms.ChoiceField(label=_("Language"), required=False, choices=list(_LANGUAGES.items()))


class SmsForm(forms.Form):
    """The template of a text message."""

    text = forms.CharField(
        label=_("Text"), required=False, max_length=4096, widget=forms.Textarea({"rows": 3})
    )


class EmailForm(forms.Form):
    """The template of an email."""

    subject = forms.CharField(label=_("Subject"), required=False, max_length=256)
    text = forms.CharField(
        label=_("Text"), required=False, max_length=4096, widget=forms.Textarea({"rows": 8})
    )
    html = forms.CharField(
        required=False, max_length=16_384, widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
        label=_("HTML"), help_text=_("Leave it empty to send plain text only."),
    )  # fmt: skip


def message_form(key: MessageKey) -> type[forms.Form]:
    """Return the form class for a message."""
    return EmailForm if key.channel == "email" else SmsForm


def describe_placeholders(key: MessageKey) -> Text:
    """Return a help text about the placeholders of a message."""
    if key.purpose in CODES:
        return _("{code} is replaced by the code, {name} by the tenant's name.")
    common = _(
        "{name} is replaced by the tenant's name. In notices about linked accounts, {provider} is replaced "
        "by the provider's name. {time}, {browser} and {address} are replaced by when and where it was done."
    )
    if key.purpose == Notice.BACKUP_CODE_USED:
        return format_lazy("{} {}", common, _("{left} is replaced by the number of unused codes."))
    if key.purpose != Notice.PASSWORD_CHANGED:
        return common
    own = _(
        "{remaining} is replaced by the linked accounts and passkeys that can still sign in, and {account} "
        "by the address of the account page. Both are empty if there are none."
    )
    return format_lazy("{} {}", common, own)


def find_template(key: MessageKey, row: SignInExperience) -> dict[str, str]:
    """Return the texts of the tenant's template for a message; empty texts if there is no template."""
    for template in row.message_templates:
        if all(template[name] == value for name, value in key.identity.items()):
            return {name: template.get(name, "") for name in ("subject", "text", "html")}
    return {"subject": "", "text": "", "html": ""}


def build_templates(
    row: SignInExperience, key: MessageKey, submitted: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return all templates, with the submitted one. A template whose texts are all empty is left out."""
    others = [
        template
        for template in row.message_templates
        if any(template[name] != value for name, value in key.identity.items())
    ]
    # Browsers send line breaks as CRLF.
    own = {name: value.replace("\r\n", "\n") for name, value in submitted.items()}
    return [*others, {**key.identity, **own}] if any(own.values()) else others
