"""The claims that an application gets, on the operators' site."""

from typing import Final

from django import forms
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.extensions import register_panels
from identity.operator_kit.json_field import JSONField
from identity.operator_kit.operations import Operation, Submission, validate
from identity.operator_kit.panels import Panel
from identity.resources import claims_table
from identity.roles.models import Role
from oidc.applications import services
from oidc.applications.models import Application
from oidc.applications.page_sections import PERMISSIONS
from oidc.applications.serializers import ApplicationSerializer

_EXAMPLE: Final = (
    '[{"name": "plan", "source": "user.custom_data.plan", "into": ["id_token", "userinfo", "access_token"]}]'
)
_OF_ROLES: Final = [
    ("roles", _("with the scope roles: the names of the user's roles"), _("ID token, userinfo")),
    ("groups", _("with the scope groups: as the setting groups_claim says"), _("ID token, userinfo")),
    ("roles, groups", _("if the API resource lists them in its claims"), _("access token")),
    ("scope", _("the scopes of the roles"), _("access token")),
]


class CustomClaimsForm(forms.Form):
    """The custom claims of an application, as JSON."""

    custom_claims = JSONField(
        required=False,
        label=_("Custom claims"),
        help_text=format_lazy(_("A JSON list, such as {example}"), example=_EXAMPLE),
        widget=forms.Textarea({"rows": 10, "spellcheck": "false"}),
    )


def _save(submission: Submission) -> str:
    metadata = {"custom_claims": submission.fields["custom_claims"] or []}
    fields = validate(ApplicationSerializer, {"oidc_client_metadata": metadata}, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The custom claims are changed.")


OPERATION: Final = Operation(
    "claims", _("Edit custom claims"),
    _("Tokens from now on have the changed claims. A third-party application gets only what users "
    "agreed to."),
    _save, form=CustomClaimsForm, initial=lambda row: {"custom_claims": row.custom_claims},
    section=PERMISSIONS,
)  # fmt: skip


def _build_application_panels(application: Application) -> list[Panel]:
    of_roles = [] if application.type == Application.Type.MACHINE else _OF_ROLES
    fixed = [(name, capfirst(str(source)), capfirst(str(where))) for name, source, where in of_roles]
    rows = [*claims_table.build_rows(application.custom_claims), *fixed]
    return [
        Panel(gettext("Custom claims and roles in tokens"), claims_table.HEADINGS, rows, section=PERMISSIONS)
    ]


def _build_role_panels(role: Role) -> list[Panel]:
    if role.type == Role.Type.MACHINE:
        return []
    return [Panel(gettext("Claims that contain this role"), claims_table.HEADINGS, list(_OF_ROLES))]


register_panels(Application, _build_application_panels)
register_panels(Role, _build_role_panels)
