"""How strong the sign-ins to an application must be, on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, Submission, validate
from oidc.applications import services
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer


class AcrForm(forms.Form):
    """The values of ``acr`` of an application."""

    required_acr = forms.CharField(
        label=_("Required strength of the sign-in (acr)"), required=False, max_length=256,
        help_text=_("Each sign-in must be at least this strong: urn:service:acr:2fa for two factors, phr for "
        "a passkey, or an alias. Leave it empty to demand nothing."),
    )  # fmt: skip
    default_acr_values = forms.CharField(
        label=_("Default acr_values"), required=False,
        help_text=_("Separated by spaces. They count for requests without acr_values. Users may decline."),
    )  # fmt: skip


def _save(submission: Submission) -> str:
    fields = submission.fields
    metadata = {
        "required_acr": fields["required_acr"],
        "default_acr_values": fields["default_acr_values"].split(),
    }
    checked = validate(ApplicationSerializer, {"oidc_client_metadata": metadata}, submission.row)
    services.change(submission.row, checked, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The strength of sign-ins is changed.")


def _initial(application: Application) -> dict[str, Any]:
    return {
        "required_acr": application.required_acr,
        "default_acr_values": " ".join(application.default_acr_values),
    }


OPERATION: Final = Operation(
    "sign-in-strength", _("Edit strength of sign-ins"), _("A change counts from the next sign-in on."),
    _save, form=AcrForm, initial=_initial,
    is_possible=lambda application: application.type != Application.Type.MACHINE, section=SETTINGS,
    edits=_("Strength of sign-ins"), needs_proof=lambda application: bool(application.required_acr),
)  # fmt: skip
