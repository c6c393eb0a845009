"""Who may use an application, on the operators' site."""

from typing import Any, Final

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation, Submission, validate
from identity.operator_kit.panels import Panel, build_panel, link
from identity.organizations.models import Organization
from identity.roles.models import Role
from oidc.applications import allowed_lists, services
from oidc.applications.models import Application
from oidc.applications.page_sections import ORGANIZATIONS, PERMISSIONS
from oidc.applications.serializers import ApplicationSerializer


def _user_roles() -> list[tuple[str, str]]:
    roles = Role.objects.filter(type=Role.Type.USER).order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in roles]


class AccessForm(forms.Form):
    """The roles and organizations whose users may use an application."""

    allowed_role_ids = forms.MultipleChoiceField(
        label=_("Roles"), required=False, choices=_user_roles, widget=forms.CheckboxSelectMultiple
    )
    allowed_organization_ids = forms.CharField(
        label=_("Organizations"), required=False, max_length=300_000,
        help_text=_("One ID per line. What follows an ID in its line is ignored."),
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
    )  # fmt: skip


def _save(submission: Submission) -> str:
    lines = submission.fields["allowed_organization_ids"].splitlines()
    lists = {
        "allowed_role_ids": submission.fields["allowed_role_ids"],
        "allowed_organization_ids": [line.split()[0] for line in lines if line.strip()],
    }
    fields = validate(ApplicationSerializer, {"oidc_client_metadata": lists}, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The choice is saved.")


def _initial(application: Application) -> dict[str, Any]:
    organizations = allowed_lists.get_organizations(application).values_list("pk", "name")
    return {
        "allowed_role_ids": [str(role.pk) for role in allowed_lists.get_roles(application)],
        "allowed_organization_ids": "\n".join(f"{pk} {name}" for pk, name in organizations),
    }


def _build_application_panels(application: Application) -> list[Panel]:
    if application.type == Application.Type.MACHINE:
        return []
    if not application.is_restricted:
        return [
            Panel(
                gettext("Who may use it"),
                (),
                [],
                empty=gettext("Every user of the tenant."),
                section=PERMISSIONS,
            )
        ]
    return [
        build_panel(
            gettext("Roles that may use it"), (gettext("Role"), gettext("Description")),
            allowed_lists.get_roles(application),
            lambda role: (link(role, role.name), role.description), section=PERMISSIONS,
        ),
        build_panel(
            gettext("Organizations that may use it"), (gettext("Organization"), gettext("Description")),
            allowed_lists.get_organizations(application),
            lambda organization: (link(organization), organization.description), section=ORGANIZATIONS,
        ),
    ]  # fmt: skip


def _build_role_panels(role: Role) -> list[Panel]:
    if role.type != Role.Type.USER:
        return []
    title = gettext("Applications restricted to this role")
    note = gettext(
        "Only users with this role, or with another role or organization on the list of the "
        "application, can sign in to it."
    )
    return [_build_dependents(title, note, allowed_lists.get_dependent(role=role))]


def _build_organization_panels(organization: Organization) -> list[Panel]:
    title = gettext("Applications restricted to this organization")
    note = gettext(
        "Only members of this organization, or users with another organization or role on the list of "
        "the application, can sign in to it."
    )
    return [_build_dependents(title, note, allowed_lists.get_dependent(organization=organization))]


def _build_dependents(title: str, note: str, applications: QuerySet[Application]) -> Panel:
    return build_panel(
        title, (gettext("Application"), gettext("Client ID")),
        applications,
        lambda application: (link(application), application.client_id),
        note=note,
    )  # fmt: skip


OPERATION: Final = Operation(
    "access", _("Choose who may use it"),
    _("Only users with one of these roles, or of one of these organizations, may use the application. "
    "Without any, everybody may. Access tokens that were issued stay valid until they expire."),
    _save, form=AccessForm, initial=_initial,
    is_possible=lambda application: application.type != Application.Type.MACHINE, section=PERMISSIONS,
)  # fmt: skip
register_panels(Application, _build_application_panels)
register_panels(Role, _build_role_panels)
register_panels(Organization, _build_organization_panels)
