"""The operators' page of the sign-in experience."""

from functools import partial
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.operator_kit import extensions, lists
from identity.operator_kit.operations import Draft, Operation, ShowForm, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Card
from interaction.experience import (
    branding_admin,
    built_in_messages,
    drafts,
    factors_admin,
    first_steps,
    forms,
    look_form,
    method_order,
    overview,
    pictures,
    services,
    text_operations,
    unused_settings,
)
from interaction.experience.message_templates import CODES
from interaction.experience.models import SignInExperience
from interaction.experience.serializers import ExperienceSerializer

_LINKS = ("terms_of_use_url", "privacy_policy_url")
_SOCIAL = ("create_users", "create_users_while_registration_is_closed", "automatic_account_linking")
_Fields = dict[str, Any]


# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (gettext_noop("Updated"),)


def _save(read: Any, operation: str, submission: Submission) -> ShowForm:
    fields = validate(ExperienceSerializer, read(submission), submission.row)
    services.change(fields, expected=submission.expected, is_proven=submission.is_proven)
    return ShowForm(operation, gettext("The sign-in experience is changed."))


def _preview(read: Any) -> Draft:
    """Return the preview of the pages with the fields that ``read`` takes from a form."""
    return Draft(SignInExperience, lambda submission: _build_draft(read, submission))


def _build_draft(read: Any, submission: Submission) -> SignInExperience:
    fields = validate(ExperienceSerializer, read(submission), submission.row)
    return services.build_draft(submission.row, fields)


def _look(submission: Submission) -> _Fields:
    branding = look_form.read_branding(submission.fields)
    return {"branding": branding, **{name: submission.fields[name] for name in _LINKS}}


def _sign_in_methods(submission: Submission) -> _Fields:
    return {"sign_in": {"methods": forms.build_methods(submission.row, submission.fields)}}


def _registration(submission: Submission) -> _Fields:
    return {"sign_up": forms.build_sign_up(submission.fields)}


def _passwords(submission: Submission) -> _Fields:
    return {"password_policy": dict(submission.fields)}


def _factors(submission: Submission) -> _Fields:
    return factors_admin.build_fields(submission.row, dict(submission.fields))


def _accounts(submission: Submission) -> _Fields:
    social = {name: submission.fields[name] for name in _SOCIAL}
    account = {name: value for name, value in submission.fields.items() if name not in _SOCIAL}
    account["sms_countries"] = account["sms_countries"].replace(",", " ").upper().split()
    return {"account": account, "social_sign_in": social}


def _build_factors_card(row: SignInExperience, _form: Any) -> Card:
    """Return the card that says whom the saved policy asks, and which settings have no effect."""
    effect, unused = factors_admin.describe_effect(row), list(unused_settings.find_in_factors(row))
    return Card("admin/effect.html", {"effect": effect, "unused": unused})


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

    section = "Sign-in experience"
    title = _("Sign-in experience")
    field_groups = ((_("Record"), ("updated_at",)),)
    operations = (
        Operation(
            "look", _("Edit branding"), _("Logo, colours and links of every page that users see."),
            partial(_save, _look, "look"), form=look_form.LookForm, draft=_preview(_look), tab=_("Branding"),
            edits=_("Branding"),
            initial=lambda row: (
                pictures.add_addresses(row.branding) | {name: getattr(row, name) for name in _LINKS}
            ),
        ),
        Operation(
            "ways", _("Edit sign-in methods"), _("Users who are signed in stay signed in."),
            partial(_save, _sign_in_methods, "ways"), form=forms.SignInMethodsForm, tab=_("Methods"),
            initial=forms.sign_in_methods_initial, draft=_preview(_sign_in_methods), edits=_("Methods"),
        ),
        method_order.OPERATION,
        Operation(
            "registration", _("Edit sign-up"),
            _("What new users are asked for. Without an identifier registration is closed, and signing in "
            "with another provider creates no users."),
            partial(_save, _registration, "registration"), form=forms.RegistrationForm,
            initial=forms.registration_initial, tab=_("Sign-up"), draft=_preview(_registration),
            edits=_("Sign-up"), card=unused_settings.build_sign_up_card,
        ),
        Operation(
            "passwords", _("Edit password policy"), _("Existing passwords stay as they are."),
            partial(_save, _passwords, "passwords"), form=forms.PasswordsForm,
            initial=lambda row: row.password_policy, tab=_("Passwords"), draft=_preview(_passwords),
            edits=_("Passwords"),
        ),
        Operation(
            "factors", _("Edit second factors"),
            _("Applies from the next sign-in on. Users who are signed in stay signed in."),
            partial(_save, _factors, "factors"), form=factors_admin.FactorsForm,
            initial=factors_admin.initial, tab=_("Second factors"), edits=_("Second factors"),
            card=_build_factors_card, needs_proof=True,
        ),
        Operation(
            "accounts", _("Edit account settings"),
            _("Account page, sign-in with other providers, allowed addresses."),
            partial(_save, _accounts, "accounts"), form=forms.AccountsForm,
            initial=forms.accounts_initial, tab=_("Account"), edits=_("Account"),
            card=unused_settings.build_accounts_card,
        ),
        Operation(
            "message", _("Edit message"), _("The text of an email or text message in one language."),
            _choose_message, form=forms.ChooseMessageForm, tab=_("Messages"),
        ),
        *(
            Operation(
                f"message-{key.name}", format_lazy(_("Edit message: {message}"), message=key),
                format_lazy(
                    "{} {}", _("Leave the text empty to send the built-in text."),
                    forms.describe_placeholders(key),
                ),
                partial(_save, partial(_message, key), f"message-{key.name}"), form=forms.message_form(key),
                initial=partial(forms.find_template, key),
                start=partial(built_in_messages.get_template, key),
                start_label=_("Start from the built-in text"), draft=_message_preview(key), hidden=True,
                tab=_("Messages"), needs_proof=key.purpose in CODES,
            )
            for key in forms.MESSAGES
        ),
        *text_operations.OPERATIONS,
    )  # fmt: skip

    def get_row_name(self, row: Any) -> str:
        """Return a fixed title: a tenant has one sign-in experience."""
        return str(self.title)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the tenant's only sign-in experience."""
        lists.check_list_query(self, request)
        experience = services.current()
        return HttpResponseRedirect(reverse("admin:experience_signinexperience_change", args=[experience.pk]))


extensions.register_card(SignInExperience, unused_settings.build_card)
extensions.register_card(SignInExperience, overview.build_card)
branding_admin.register()
first_steps.register()
