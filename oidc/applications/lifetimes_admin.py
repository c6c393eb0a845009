"""How long refresh tokens of an application live, and how old its sign-ins may be, on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, Submission, validate
from oidc.applications import services
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer

_FIELDS: Final = ("refresh_token_idle_seconds", "refresh_token_absolute_seconds", "default_max_age")


class LifetimesForm(forms.Form):
    """The lifetimes of an application, in seconds."""

    refresh_token_idle_seconds = forms.IntegerField(
        label=_("Idle lifetime of refresh tokens"), required=False, min_value=1,
        help_text=_("Seconds. Leave it empty for the tenant's value."),
    )  # fmt: skip
    refresh_token_absolute_seconds = forms.IntegerField(
        label=_("Maximum lifetime of refresh tokens"), required=False, min_value=1,
        help_text=_("Seconds since the sign-in. Leave it empty for the tenant's value."),
    )  # fmt: skip
    default_max_age = forms.IntegerField(
        label=_("Maximum age of the sign-in (max_age)"), required=False, min_value=0,
        help_text=_("Seconds, for authorization requests without max_age. After this time users sign in "
        "again; with 0, for each request. Leave it empty for any age."),
    )  # fmt: skip


def _save(submission: Submission) -> str:
    metadata = {name: submission.fields[name] for name in _FIELDS}
    fields = validate(ApplicationSerializer, {"oidc_client_metadata": metadata}, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The lifetimes are changed.")


def _initial(application: Application) -> dict[str, Any]:
    return {name: getattr(application, name) for name in _FIELDS}


OPERATION: Final = Operation(
    "lifetimes", _("Edit lifetimes"), _("A change counts from the next use of a refresh token."),
    _save, form=LifetimesForm, initial=_initial,
    is_possible=lambda application: application.type != Application.Type.MACHINE, section=SETTINGS,
    edits=_("Lifetimes"),
)  # fmt: skip
