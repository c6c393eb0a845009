"""The console's page of the sign-in experience."""

import json
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from identity.core import tenancy
from identity.operator_kit import lists
from identity.operator_kit.operations import Draft, Operation, ShowForm, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel
from interaction.experience import drafts, forms, services
from interaction.experience.models import SignInExperience
from interaction.experience.serializers import ExperienceSerializer

_LINKS = ("terms_of_use_url", "privacy_policy_url")
_SOCIAL = ("create_users", "create_users_while_registration_is_closed", "automatic_account_linking")
_Fields = dict[str, Any]


def _save(read: Any, submission: Submission) -> str:
    fields = validate(ExperienceSerializer, read(submission), submission.row)
    services.change(fields, expected=submission.expected)
    return "The sign-in experience is changed."


def _preview(read: Any) -> Draft:
    """Return the preview of the pages with the fields that ``read`` takes from a form."""
    return Draft(SignInExperience, lambda submission: _build_draft(read, submission))


def _build_draft(read: Any, submission: Submission) -> SignInExperience:
    fields = validate(ExperienceSerializer, read(submission), submission.row)
    return services.build_draft(submission.row, fields)


def _look(submission: Submission) -> _Fields:
    branding = {name: value for name, value in submission.fields.items() if name not in _LINKS}
    return {"branding": branding, **{name: submission.fields[name] for name in _LINKS}}


def _sign_in_methods(submission: Submission) -> _Fields:
    return {"sign_in": {"methods": forms.build_methods(submission.row, submission.fields)}}


def _registration(submission: Submission) -> _Fields:
    return {"sign_up": dict(submission.fields)}


def _passwords(submission: Submission) -> _Fields:
    return {"password_policy": dict(submission.fields)}


def _accounts(submission: Submission) -> _Fields:
    social = {name: submission.fields[name] for name in _SOCIAL}
    account = {name: value for name, value in submission.fields.items() if name not in _SOCIAL}
    account["sms_countries"] = account["sms_countries"].replace(",", " ").upper().split()
    return {"account": account, "social_sign_in": social}


def _choose_message(submission: Submission) -> ShowForm:
    message, language = submission.fields["message"], submission.fields["language"] or "any"
    return ShowForm(f"message-{message}-{language}")


def _message(key: forms.MessageKey, submission: Submission) -> _Fields:
    return {"message_templates": forms.build_templates(submission.row, key, submission.fields)}


def _message_preview(key: forms.MessageKey) -> Draft:
    kind = drafts.Email if key.channel == "email" else drafts.TextMessage
    return Draft(kind, lambda submission: kind(key, _build_draft(partial(_message, key), submission)))


@admin.register(SignInExperience)
class SignInExperienceAdmin(Pages):
    """The one sign-in experience of the tenant."""

    section = "Signing in"
    title = "Sign-in experience"
    fields = (
        "page", "look", "terms_of_use_url", "privacy_policy_url", "ways", "registration", "passwords",
        "accounts", "social", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "look", "Edit the look", "Logo, colours and links of every page that users see.",
            partial(_save, _look), form=forms.LookForm, draft=_preview(_look),
            initial=lambda row: {**row.branding, **{name: getattr(row, name) for name in _LINKS}},
        ),
        Operation(
            "ways", "Edit the ways to sign in", "Users who are signed in stay signed in.",
            partial(_save, _sign_in_methods), form=forms.SignInMethodsForm,
            initial=forms.sign_in_methods_initial, draft=_preview(_sign_in_methods),
        ),
        Operation(
            "registration", "Edit registration",
            "What new users are asked for. Without an identifier registration is closed, and signing in with "
            "another provider creates no users.",
            partial(_save, _registration), form=forms.RegistrationForm, initial=lambda row: row.sign_up,
            draft=_preview(_registration),
        ),
        Operation(
            "passwords", "Edit the password policy", "Existing passwords stay as they are.",
            partial(_save, _passwords), form=forms.PasswordsForm, initial=lambda row: row.password_policy,
            draft=_preview(_passwords),
        ),
        Operation(
            "accounts", "Edit what users may do",
            "Account page, sign-in with other providers, allowed addresses.",
            partial(_save, _accounts), form=forms.AccountsForm,
            initial=forms.accounts_initial,
        ),
        Operation(
            "message", "Edit a message", "The text of an email or text message in one language.",
            _choose_message, form=forms.ChooseMessageForm,
        ),
        *(
            Operation(
                f"message-{key.name}", f"Edit the message: {key}",
                f"Leave the text empty to send the built-in text. {forms.describe_placeholders(key)}",
                partial(_save, partial(_message, key)), form=forms.message_form(key),
                initial=partial(forms.find_template, key), draft=_message_preview(key), hidden=True,
            )
            for key in forms.MESSAGES
        ),
    )  # fmt: skip

    def get_row_name(self, row: Any) -> str:
        """Return a fixed title: a tenant has one sign-in experience."""
        return self.title

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the tenant's only sign-in experience."""
        lists.check_list_query(self, request)
        experience = services.current()
        return HttpResponseRedirect(reverse("admin:experience_signinexperience_change", args=[experience.pk]))

    @admin.display(description="Page")
    def page(self, row: SignInExperience) -> str:
        """A link to the sign-in page."""
        return format_html(
            '<a href="{}/sign-in" target="_blank" rel="noopener">The sign-in page, as users see it</a>',
            tenancy.active().issuer,
        )

    @admin.display(description="Look")
    def look(self, row: SignInExperience) -> str:
        """Logo and colours."""
        return _lines(row.branding) or "The default look"

    @admin.display(description="Ways to sign in")
    def ways(self, row: SignInExperience) -> str:
        """The sign-in methods of each identifier."""
        names = {"password": "password", "verification_code": "code"}
        return "\n".join(
            f"{method['identifier']}: "
            f"{' or '.join(text for name, text in names.items() if method[name]) or 'off'}"
            for method in row.sign_in["methods"]
        )

    @admin.display(description="Registration")
    def registration(self, row: SignInExperience) -> str:
        """What new users are asked for."""
        return _lines(row.sign_up)

    @admin.display(description="Password policy")
    def passwords(self, row: SignInExperience) -> str:
        """The rules for passwords."""
        return _lines(row.password_policy)

    @admin.display(description="Account page")
    def accounts(self, row: SignInExperience) -> str:
        """What users may do on their account page."""
        return _lines(row.account)

    @admin.display(description="Other providers")
    def social(self, row: SignInExperience) -> str:
        """The settings of social sign-in."""
        return _lines(row.social_sign_in)

    def get_panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Return the panel of the tenant's own message templates."""
        templates = [(key, forms.find_template(key, row)) for key in forms.MESSAGES]
        rows = [
            (str(key), template["subject"] or "-", template["text"][:120])
            for key, template in templates
            if template["text"]
        ]
        empty = "All messages have the built-in texts, in the user's language."
        return [Panel("Own messages", ("Message", "Subject", "Text"), rows, empty=empty)]


def _lines(settings: dict[str, Any]) -> str:
    """Return the settings that are not empty, one on each line."""
    return "\n".join(
        f"{name.replace('_', ' ')}: {_display(value)}" for name, value in settings.items() if value != ""
    )


def _display(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return value if isinstance(value, str) else json.dumps(value)
