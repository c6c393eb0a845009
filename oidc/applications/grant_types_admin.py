"""The grant types of an application, on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, Submission, validate
from oidc.applications import services
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer

_LABELS: Final = {
    "authorization_code": _("authorization_code: sign users in"),
    "refresh_token": _("refresh_token: get new tokens without the user"),
    "client_credentials": _("client_credentials: act on its own behalf"),
}


def _build_form(application: Application) -> type[forms.Form]:
    """Return a form with the grant types that the application's type may use."""
    choices = [
        (name, _LABELS.get(name, name)) for name in services.get_possible_grant_types(application.type)
    ]
    field = forms.MultipleChoiceField(
        label=gettext("Grant types"), required=False, choices=choices, widget=forms.CheckboxSelectMultiple
    )
    return type("GrantTypesForm", (forms.Form,), {"grant_types": field})


def _save(submission: Submission) -> str:
    sent = {"oidc_client_metadata": dict(submission.fields)}
    fields = validate(ApplicationSerializer, sent, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The grant types are saved.")


def _initial(application: Application) -> dict[str, Any]:
    return {"grant_types": application.grant_types}


OPERATION: Final = Operation(
    "grant-types", _("Choose grant types"),
    _("An application can use only these. Without refresh_token, its refresh tokens are refused."),
    _save, form_for=_build_form, initial=_initial, section=SETTINGS, edits=_("Grant types"),
)  # fmt: skip
