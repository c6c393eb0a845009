"""The sign-in experience, for operators."""

import json
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from identity.core import tenancy
from identity.operator_kit.operations import Draft, Onward, Operation, Order, Panel, checked
from identity.operator_kit.pages import Pages
from interaction.experience import drafts, forms, services
from interaction.experience.models import SignInExperience
from interaction.experience.serializers import ExperienceSerializer

_LINKS = ("terms_of_use_url", "privacy_policy_url")
_SOCIAL = ("create_users", "create_users_while_registration_is_closed", "automatic_account_linking")
_Sent = dict[str, Any]


def _save(read: Any, order: Order) -> str:
    fields = checked(ExperienceSerializer, read(order), order.row)
    services.change(fields, expected=order.expected)
    return "The sign-in experience is changed."


def _drafted(read: Any) -> Draft:
    """Return how to draw what the fields that ``read`` finds in a form would make of the pages."""
    return Draft(SignInExperience, lambda order: _draft(read, order))


def _draft(read: Any, order: Order) -> SignInExperience:
    return services.merged(order.row, checked(ExperienceSerializer, read(order), order.row))


def _look(order: Order) -> _Sent:
    branding = {name: value for name, value in order.fields.items() if name not in _LINKS}
    return {"branding": branding, **{name: order.fields[name] for name in _LINKS}}


def _ways(order: Order) -> _Sent:
    return {"sign_in": {"methods": forms.methods(order.row, order.fields)}}


def _registration(order: Order) -> _Sent:
    return {"sign_up": dict(order.fields)}


def _passwords(order: Order) -> _Sent:
    return {"password_policy": dict(order.fields)}


def _accounts(order: Order) -> _Sent:
    social = {name: order.fields[name] for name in _SOCIAL}
    account = {name: value for name, value in order.fields.items() if name not in _SOCIAL}
    account["sms_countries"] = account["sms_countries"].replace(",", " ").upper().split()
    return {"account": account, "social_sign_in": social}


def _choose_message(order: Order) -> Onward:
    return Onward(
        "-".join(("message", *order.fields["message"].split("-"), order.fields["language"] or "any"))
    )


def _message(key: forms.MessageKey, order: Order) -> _Sent:
    return {"message_templates": forms.templates(order.row, key, order.fields)}


def _drafted_message(key: forms.MessageKey) -> Draft:
    kind = drafts.Email if key.channel == "email" else drafts.TextMessage
    return Draft(kind, lambda order: kind(key, _draft(partial(_message, key), order)))


@admin.register(SignInExperience)
class SignInExperienceAdmin(Pages):
    """The one sign-in experience of the tenant."""

    section = "Signing in"
    title = "Sign-in experience"
    shown = (
        "page", "look", "terms_of_use_url", "privacy_policy_url", "ways", "registration", "passwords",
        "accounts", "social", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "look", "Edit the look", "Logo, colours and links of every page people meet.",
            partial(_save, _look), form=forms.LookForm, draft=_drafted(_look),
            initial=lambda row: {**row.branding, **{name: getattr(row, name) for name in _LINKS}},
        ),
        Operation(
            "ways", "Edit the ways to sign in", "People who are signed in stay it.", partial(_save, _ways),
            form=forms.WaysForm, initial=forms.ways_of, draft=_drafted(_ways),
        ),
        Operation(
            "registration", "Edit registration",
            "What somebody new is asked for. Without an identifier nobody can register, nor come in by "
            "another provider for the first time.",
            partial(_save, _registration), form=forms.RegistrationForm, initial=lambda row: row.sign_up,
            draft=_drafted(_registration),
        ),
        Operation(
            "passwords", "Edit the password policy", "Passwords that people have already stay as they are.",
            partial(_save, _passwords), form=forms.PasswordsForm, initial=lambda row: row.password_policy,
            draft=_drafted(_passwords),
        ),
        Operation(
            "accounts", "Edit what people may do",
            "On their account page, with other providers, and with which addresses.",
            partial(_save, _accounts), form=forms.AccountsForm,
            initial=forms.accounts_of,
        ),
        Operation(
            "message", "Edit a message", "What emails and text messages say, in a language.",
            _choose_message, form=forms.ChooseMessageForm,
        ),
        *(
            Operation(
                f"message-{key.name}", f"Edit the message: {key}",
                f"With an empty text, ours is sent. {forms.placeholders(key)}",
                partial(_save, partial(_message, key)), form=forms.message_form(key),
                initial=partial(forms.template_of, key), draft=_drafted_message(key), hidden=True,
            )
            for key in forms.MESSAGES
        ),
    )  # fmt: skip

    def name_of(self, row: Any) -> str:
        """Return the same for every tenant: it has just one."""
        return self.title

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Go to the one there is."""
        self.check_query(request)
        one = services.current()
        return HttpResponseRedirect(reverse("admin:experience_signinexperience_change", args=[one.pk]))

    @admin.display(description="Page")
    def page(self, row: SignInExperience) -> str:
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

    def panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Show the messages that say something of the tenant's own."""
        own = [(key, forms.template_of(key, row)) for key in forms.MESSAGES]
        rows = [(str(key), own["subject"] or "-", own["text"][:120]) for key, own in own if own["text"]]
        empty = "Messages say what ours say, in the person's language."
        return [Panel("Own messages", ("Message", "Subject", "Text"), rows, empty)]


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
