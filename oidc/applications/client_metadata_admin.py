"""The client metadata of an application, on the operators' site: its links, logo and contacts."""

from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.contrib.admin import display
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, Submission, validate
from oidc.applications import client_metadata, services
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer


def _url(label: Any, help_text: Any = "") -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=2048, help_text=help_text)


class DescriptionForm(forms.Form):
    """The links, the logo and the contacts of an application."""

    client_uri = _url(_("Website"))
    logo_uri = _url(
        _("Logo"), _("Users see the logos of your own applications, never those of third parties.")
    )
    policy_uri = _url(_("Privacy policy"))
    tos_uri = _url(_("Terms of use"))
    contacts = forms.CharField(
        label=_("Contacts"),
        required=False,
        help_text=_("Email addresses, one per line, such as ops@example.com."),
        widget=forms.Textarea({"rows": 3}),
    )
    initiate_login_uri = _url(
        _("URL that begins a sign-in"), _("Users open the application there from their account page.")
    )


def _save(submission: Submission) -> str:
    fields = dict(submission.fields)
    metadata = fields | {"contacts": fields["contacts"].split()}
    changed = validate(ApplicationSerializer, {"oidc_client_metadata": metadata}, submission.row)
    services.change(submission.row, changed, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The description is saved.")


def _initial(application: Application) -> dict[str, Any]:
    fields = {name: getattr(application, name) for name in client_metadata.FIELDS}
    return fields | {"contacts": "\n".join(application.contacts)}


def _column(name: str, label: Any) -> Callable[[Application], str]:
    def column(application: Application) -> str:
        value = getattr(application, name)
        return ("\n".join(value) if isinstance(value, list) else value) or "-"

    column.__name__ = name  # a part of the cell's CSS class
    return display(description=label)(column)


# The fields of the page of an application.
COLUMNS: Final = tuple(_column(name, field.label) for name, field in DescriptionForm.base_fields.items())
OPERATION: Final = Operation(
    "describe", _("Describe application"),
    _("Users see the links on the consent page and among their connected applications."),
    _save, form=DescriptionForm, initial=_initial, section=SETTINGS, edits=_("What users see"),
)  # fmt: skip
