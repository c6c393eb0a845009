"""Creating, changing and deleting applications on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.operator_kit.algorithms import algorithm_choices
from identity.operator_kit.operations import Operation, ShowRow, ShowSecrets, Submission, validate
from oidc.applications import secrets_admin, services
from oidc.applications.models import PUBLIC_TYPES, Application
from oidc.applications.serializers import ApplicationSerializer
from oidc.applications.type_words import TYPES

_URIS: Final = ("redirect_uris", "post_logout_redirect_uris")
_ALGORITHMS: Final = ("id_token_signed_response_alg", "userinfo_signed_response_alg")
_URIS_HELP: Final = _(
    "One per line, such as https://app.example.com/callback. A sign-in returns only to a URI that is listed "
    "here, character by character the same. Use https, or http on localhost and 127.0.0.1. A mobile or "
    "desktop app may also use a scheme of its own, such as com.example.app:/callback. A service needs none."
)
_LOGOUT_URIS_HELP: Final = _(
    "One per line, such as https://app.example.com/. Users return to one of them after signing out. The same "
    "rules apply."
)
_CARD: Final = '<span class="choice"><b>{}</b> <span>{}</span> <code>{}</code></span>'


def _list_area(rows: int, path: str) -> forms.Textarea:
    """Return the widget of a list of URIs, with an example that ends in ``path``."""
    example = f"https://app.example.com{path}"
    return forms.Textarea({"rows": rows, "spellcheck": "false", "placeholder": example})


class SettingsForm(forms.Form):
    """The name, redirect URIs and policies of an application."""

    name = forms.CharField(label=_("Name"), max_length=256)
    description = forms.CharField(
        label=_("Description"), required=False, max_length=1024, widget=forms.Textarea({"rows": 2})
    )
    redirect_uris = forms.CharField(
        label=_("Redirect URIs"), required=False, help_text=_URIS_HELP, widget=_list_area(4, "/callback")
    )
    post_logout_redirect_uris = forms.CharField(
        label=_("Redirect URIs after sign-out"),
        required=False,
        help_text=_LOGOUT_URIS_HELP,
        widget=_list_area(3, "/"),
    )
    is_third_party = forms.BooleanField(
        required=False,
        label=_("Third party"),
        help_text=_("Users are asked for consent before the application receives their data."),
    )
    require_pkce = forms.BooleanField(
        required=False,
        label=_("Require PKCE"),
        help_text=_("SPA and Native applications always use PKCE."),
    )

    id_token_signed_response_alg = forms.ChoiceField(
        label=_("Algorithm of ID tokens"),
        required=False,
        choices=algorithm_choices(_("The tenant's default")),
        help_text=_(
            "Choose RS256 for Spring Security's login, Vault, OpenBao and others on HashiCorp's "
            "library, the flags of kube-apiserver, NextAuth 4 and Directus. They accept no other algorithm "
            "unless they are told to."
        ),
    )
    userinfo_signed_response_alg = forms.ChoiceField(
        label=_("Algorithm of userinfo"),
        required=False,
        choices=algorithm_choices(_("JSON, not signed")),
        help_text=_("Few applications need signed userinfo."),
    )


def _list_types() -> list[tuple[str, str]]:
    return [(kind, format_html(_CARD, words.name, words.sentence, kind)) for kind, words in TYPES.items()]


class NewApplicationForm(SettingsForm):
    """A new application."""

    type = forms.ChoiceField(
        label=_("What kind of application is it?"),
        choices=_list_types,
        widget=forms.RadioSelect({"class": "as-cards"}),
    )

    field_order = ("name", "type")


def _api_fields(submission: Submission) -> dict[str, Any]:
    """Return the submitted fields as the API's serializer takes them."""
    fields = dict(submission.fields)
    metadata: dict[str, Any] = {name: fields.pop(name).split() for name in _URIS}
    application_type = fields.get("type") or submission.row.type
    # A box that is not checked must not turn PKCE off for types that always use it.
    metadata["require_pkce"] = fields.pop("require_pkce") or application_type in PUBLIC_TYPES
    metadata |= {name: fields.pop(name) for name in _ALGORITHMS}
    return fields | {"oidc_client_metadata": metadata}


def _create(submission: Submission) -> ShowSecrets | ShowRow:
    application, secret = services.register(**validate(ApplicationSerializer, _api_fields(submission)))
    message = gettext("%(name)s is created.") % {"name": application.name}
    if not application.must_present_secret:  # so its secret is not shown
        return ShowRow(message, application)
    return secrets_admin.show(application, secret, message)


def _change(submission: Submission) -> str:
    fields = validate(ApplicationSerializer, _api_fields(submission), submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The application is changed.")


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return gettext("The application is deleted.")


def _initial(application: Application) -> dict[str, Any]:
    names = ("name", "description", "is_third_party", *_ALGORITHMS)
    fields = {name: getattr(application, name) for name in names}
    fields["require_pkce"] = application.must_use_pkce
    return fields | {name: "\n".join(getattr(application, name)) for name in _URIS}


CHANGE: Final = Operation(
    "change", _("Edit application"),
    _("Redirect URIs are compared character by character."), _change, form=SettingsForm,
    initial=_initial, sentence=_("Edit {name}"), edits=_("Application"),
)  # fmt: skip
DELETE: Final = Operation(
    "delete", _("Delete application"),
    _("The client ID, the secret and all tokens stop working at once."), _remove,
    is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
)  # fmt: skip
CREATE: Final = Operation(
    "create", _("Create application"),
    _("The secret of a web app or service is shown once, on the next page."), _create,
    form=NewApplicationForm, needs_row=False,
)  # fmt: skip
