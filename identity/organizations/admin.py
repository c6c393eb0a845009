"""Organizations and their templates on the operators' site."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.core.text_lists import join
from identity.operator_kit import crud
from identity.operator_kit.name_form import NameForm
from identity.operator_kit.operations import Operation
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_time
from identity.organizations import admin_actions, forms, members_admin, services
from identity.organizations.models import (
    MemberCount,
    Membership,
    Organization,
    OrganizationPermission,
    OrganizationRole,
)
from identity.organizations.serializers import (
    OrganizationPermissionSerializer,
    OrganizationRoleSerializer,
    OrganizationSerializer,
)
from identity.resources.forms import ScopesForm
from identity.users.user_lines_form import UserLinesForm


@admin.register(Organization)
class OrganizationAdmin(Pages):
    """Organizations and their members."""

    section = "Organizations"
    empty = _("An organization is a customer or team whose members have roles of their own.")
    list_display = ("name", "description", "members", "is_mfa_required", "created_at")
    list_filter = ("is_mfa_required",)
    search_fields = ("name", "description")
    fields = (
        *("id", "name", "description", "logo_url", "metadata", "is_mfa_required"),
        *("created_at", "updated_at"),
    )
    operations = (
        Operation(
            "change", _("Edit organization"), _("Applications and users see these settings."),
            admin_actions.change, form=forms.OrganizationForm,
            initial=admin_actions.initial_values(forms.OrganizationForm), sentence=_("Edit {name}"),
            edits=_("Details"), needs_proof=lambda organization: organization.is_mfa_required,
        ),
        Operation(
            "add-members", _("Add members"), _("If one user cannot be added, none is."),
            admin_actions.add_members, form=UserLinesForm, sentence=_("Add members to {name}"),
        ),
        Operation(
            "delete", _("Delete organization"),
            _("Deletes the organization and its memberships. The users remain."),
            admin_actions.remove, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
        ),
        Operation(
            "create", _("Create organization"), _("A new organization has no members."),
            partial(crud.create, Organization, OrganizationSerializer),
            form=forms.OrganizationForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return organizations with their numbers of members."""
        counted: QuerySet[Any] = (
            super().get_queryset(request).annotate(member_count=MemberCount.objects.count_per_organization())
        )
        return counted

    @admin.display(description=_("Members"))
    def members(self, organization: Any) -> int:
        """Return the number of members."""
        return int(organization.member_count)

    def get_panels(self, request: Any, row: Organization) -> list[Panel]:
        """Return the panel of the newest members, and those of other apps."""
        members = Membership.objects.filter(organization=row).order_by("-created_at", "-pk")
        panel = build_panel(
            gettext("Members"),
            (gettext("User"), gettext("Roles"), gettext("Administrator"), gettext("Joined")),
            members.select_related("user").prefetch_related("role_links__role"),
            lambda member: (
                link(member, str(member.user)),
                join(sorted(held.role.name for held in member.role_links.all())) or "-",
                gettext("Yes") if member.is_admin else gettext("No"),
                format_time(member.created_at),
            ),
            more_url=members_admin.get_list_url(row),
        )
        return [panel, *super().get_panels(request, row)]


@admin.register(OrganizationRole)
class OrganizationRoleAdmin(Pages):
    """Role templates of organizations."""

    section = "Organizations"
    place = 1
    title = _("Organization roles")
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    fields = ("id", "name", "type", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", _("Edit organization role"),
            _("Organization tokens contain this name, so applications may depend on it."),
            partial(crud.change, OrganizationRoleSerializer), form=NameForm,
            initial=admin_actions.initial_values(NameForm), edits=_("Details"),
        ),
        Operation(
            "permissions", _("Choose permissions"),
            _("Permissions that are not selected are removed from the role."),
            partial(crud.assign, services.PERMISSIONS, "permission_ids"),
            form=forms.PermissionsForm,
            initial=partial(crud.get_assigned, services.PERMISSIONS, "permission_ids"),
        ),
        Operation(
            "scopes", _("Choose scopes"), _("Scopes that are not selected are removed from the role."),
            partial(crud.assign, services.RESOURCE_SCOPES, "scope_ids"), form=ScopesForm,
            initial=partial(crud.get_assigned, services.RESOURCE_SCOPES, "scope_ids"),
        ),
        Operation(
            "delete", _("Delete organization role"), _("Removes the role from all its members."),
            crud.remove, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
        ),
        Operation(
            "create", _("Create organization role"), _("Members of every organization can have this role."),
            partial(crud.create, OrganizationRole, OrganizationRoleSerializer),
            form=forms.NewRoleForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_panels(self, request: Any, row: OrganizationRole) -> list[Panel]:
        """Return the panels of the role's permissions and scopes, and those of other apps."""
        return [
            build_panel(
                gettext("Permissions"), (gettext("Permission"), gettext("Description")),
                services.PERMISSIONS.items_of(row.pk),
                lambda permission: (permission.name, permission.description),
            ),
            build_panel(
                gettext("Scopes"), (gettext("Scope"), gettext("API resource")),
                services.RESOURCE_SCOPES.items_of(row.pk).select_related("resource"),
                lambda scope: (scope.name, link(scope.resource)),
            ),
            *super().get_panels(request, row),
        ]  # fmt: skip


@admin.register(OrganizationPermission)
class OrganizationPermissionAdmin(Pages):
    """The permissions of organization roles."""

    section = "Organizations"
    place = 2
    title = _("Organization permissions")
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    fields = ("id", "name", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", _("Edit organization permission"),
            _("Organization tokens contain the name as a scope, so applications may depend on it."),
            partial(crud.change, OrganizationPermissionSerializer), form=NameForm,
            initial=admin_actions.initial_values(NameForm), edits=_("Details"),
        ),
        Operation(
            "delete", _("Delete organization permission"), _("Removes the permission from all roles."),
            crud.remove, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
        ),
        Operation(
            "create", _("Create organization permission"),
            _("Members have the permission once one of their roles has it."),
            partial(crud.create, OrganizationPermission, OrganizationPermissionSerializer),
            form=NameForm, needs_row=False,
        ),
    )  # fmt: skip
