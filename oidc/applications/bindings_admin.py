"""The applications that are bound to organizations, on the operators' site."""

from functools import partial
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.core.text_lists import join
from identity.operator_kit import crud
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.operations import Operation, ShowRow, Submission
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_time
from identity.organizations.models import Organization, OrganizationRole
from oidc.applications import bindings
from oidc.applications.models import Application, OrganizationApplication
from oidc.applications.page_sections import ORGANIZATIONS

_MAX_NEW: Final = 200


# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (
    gettext_noop("Application"),
    gettext_noop("Created"),
    gettext_noop("ID"),
    gettext_noop("Organization"),
)


class BindForm(forms.Form):
    """Machine applications."""

    application_ids = forms.CharField(
        label=_("Applications"), max_length=60_000, widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        help_text=format_lazy(
            _("One client ID or ID of a machine application per line, at most {count}."), count=_MAX_NEW
        ),
    )  # fmt: skip


def _machine_roles() -> list[tuple[str, str]]:
    roles = OrganizationRole.objects.filter(type=OrganizationRole.Type.MACHINE).order_by("name")
    return [(str(pk), name) for pk, name in roles.values_list("pk", "name")]


class RolesForm(forms.Form):
    """The roles of a bound application."""

    organization_role_ids = forms.MultipleChoiceField(
        label=_("Roles"), required=False, choices=_machine_roles, widget=forms.CheckboxSelectMultiple
    )


def _bind(submission: Submission) -> str:
    text = submission.fields["application_ids"]
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(lines) > _MAX_NEW:
        raise Invalid("application_ids", fill(gettext_noop("at most %(count)s at once"), count=_MAX_NEW))
    application_ids = _find_application_ids(lines)
    bindings.bind(submission.row.pk, application_ids)
    return gettext("Applications bound: %(count)s.") % {"count": len(application_ids)}


def _find_application_ids(lines: list[str]) -> list[str]:
    """Return the ids of the applications with these ids or client ids. The service refuses other lines."""
    parsed = [pk for line in lines if (pk := ids.parse(line))]
    found = Application.objects.filter(Q(client_id__in=lines) | Q(pk__in=parsed))
    known = {client_id: str(pk) for pk, client_id in found.values_list("pk", "client_id")}
    return [known.get(line, line[:100]) for line in lines]


def _unbind(submission: Submission) -> ShowRow:
    bindings.unbind(submission.row, expected=submission.expected)
    return ShowRow(gettext("The application is removed from the organization."), submission.row.organization)


@admin.register(OrganizationApplication)
class OrganizationApplicationAdmin(Pages):
    """Machine applications that may act for an organization."""

    section = "Organizations"
    place = None  # each organization lists its own
    title = _("Bound applications")
    list_display = ("application", "organization", "created_at")
    list_select_related = ("application", "organization")
    search_fields = ("application__name", "application__client_id", "organization__name")
    fields = ("id", "application_link", "organization_link", "roles", "created_at")
    operations = (
        Operation(
            "roles", _("Choose roles"),
            _("The roles apply only in this organization. Roles that are not selected are removed, from the "
            "next request on."),
            partial(crud.assign, bindings.IN_ORGANIZATION, "organization_role_ids"), form=RolesForm,
            initial=partial(crud.get_assigned, bindings.IN_ORGANIZATION, "organization_role_ids"),
        ),
        Operation(
            "remove", _("Remove application"),
            _("Removes the application, and its roles, from the organization. The application remains."),
            _unbind, is_destructive=True,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return bindings with their applications and organizations."""
        return super().get_queryset(request).select_related("application", "organization")

    def get_row_name(self, row: Any) -> str:
        names = {"application": row.application, "organization": row.organization}
        return gettext("%(application)s in %(organization)s") % names

    @admin.display(description=_("Application"))
    def application_link(self, binding: OrganizationApplication) -> str:
        return _render_link(binding.application)

    @admin.display(description=_("Organization"))
    def organization_link(self, binding: OrganizationApplication) -> str:
        return _render_link(binding.organization)

    @admin.display(description=_("Roles"))
    def roles(self, binding: OrganizationApplication) -> str:
        return join(role.name for role in bindings.IN_ORGANIZATION.items_of(binding.pk)) or "-"


def _render_link(row: Any) -> str:
    cell = link(row)
    return format_html('<a href="{}">{}</a>', cell.href, cell.text)


def build_organizations_panel(application: Application) -> Panel:
    """Return the panel of the organizations that an application is bound to."""
    bound = OrganizationApplication.objects.filter(application=application).order_by("-created_at")
    return build_panel(
        gettext("Organizations"), (gettext("Organization"), gettext("Bound since")),
        bound.select_related("organization"),
        lambda binding: (link(binding, str(binding.organization)), format_time(binding.created_at)),
        section=ORGANIZATIONS, empty=gettext("None. Add the application on the page of an organization."),
    )  # fmt: skip


def _build_applications_panels(organization: Organization) -> list[Panel]:
    bound = OrganizationApplication.objects.filter(organization=organization).order_by("-created_at")
    return [
        build_panel(
            gettext("Machine applications"), (gettext("Application"), gettext("Bound since")),
            bound.select_related("application"),
            lambda binding: (link(binding, str(binding.application)), format_time(binding.created_at)),
            note=gettext("They get tokens for this organization without a user. Their roles in it say what "
            "they may do."),
        )
    ]  # fmt: skip


register_panels(Organization, _build_applications_panels)
register_operations(
    Organization,
    Operation(
        "bind-applications", _("Add applications"),
        _("Machine applications can then get tokens for the organization. What they may do there follows "
        "from their roles in it."),
        _bind, form=BindForm, permission="applications.change_organizationapplication",
    ),
)  # fmt: skip
