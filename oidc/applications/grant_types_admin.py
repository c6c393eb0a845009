"""The grant types of an application, on the operators' site."""

from typing import Any, Final

from django import forms

from identity.operator_kit.operations import Operation, Submission, validate
from oidc.applications import services
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer

_LABELS: Final = {
    "authorization_code": "authorization_code: sign users in",
    "refresh_token": "refresh_token: get new tokens without the user",
    "client_credentials": "client_credentials: act on its own behalf",
}


def _build_form(application: Application) -> type[forms.Form]:
    """Return a form with the grant types that the application's type may use."""
    choices = [
        (name, _LABELS.get(name, name)) for name in services.get_possible_grant_types(application.type)
    ]
    field = forms.MultipleChoiceField(
        label="Grant types", required=False, choices=choices, widget=forms.CheckboxSelectMultiple
    )
    return type("GrantTypesForm", (forms.Form,), {"grant_types": field})


def _save(submission: Submission) -> str:
    sent = {"oidc_client_metadata": dict(submission.fields)}
    fields = validate(ApplicationSerializer, sent, submission.row)
    services.change(submission.row, fields, expected=submission.expected)
    return "The grant types are saved."


def _initial(application: Application) -> dict[str, Any]:
    return {"grant_types": application.grant_types}


OPERATION: Final = Operation(
    "grant-types", "Choose grant types",
    "An application can use only these. Without refresh_token, its refresh tokens are refused.",
    _save, form_for=_build_form, initial=_initial, section=SETTINGS, edits="Grant types",
)  # fmt: skip
