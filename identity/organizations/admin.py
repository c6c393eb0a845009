"""Organizations, their members and templates on the operators' site."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from identity.operator_kit import crud
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_utc
from identity.organizations import admin_actions, forms, services
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
from identity.users.models import User


@admin.register(Organization)
class OrganizationAdmin(Pages):
    """Organizations and their members."""

    section = "Organizations"
    list_display = ("name", "description", "members", "created_at")
    search_fields = ("name", "description")
    fields = ("id", "name", "description", "logo_url", "metadata", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit organization", "Applications and users see these settings.",
            partial(crud.change, OrganizationSerializer), form=forms.OrganizationForm,
            initial=admin_actions.initial_values(forms.OrganizationForm),
        ),
        Operation(
            "add-members", "Add members", "If one user cannot be added, none is.",
            admin_actions.add_members, form=forms.NewMembersForm,
        ),
        Operation(
            "delete", "Delete organization",
            "Deletes the organization and its memberships. The users remain.",
            admin_actions.remove, is_destructive=True,
        ),
        Operation(
            "create", "Create organization", "A new organization has no members.",
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

    @admin.display(description="Members")
    def members(self, organization: Any) -> int:
        """Return the number of members."""
        return int(organization.member_count)

    def get_panels(self, request: Any, row: Organization) -> list[Panel]:
        """Return the panel of the newest members, and those of other apps."""
        members = Membership.objects.filter(organization=row).order_by("-created_at", "-pk")
        panel = build_panel(
            "Members",
            ("User", "Roles", "Administrator", "Joined"),
            members.select_related("user").prefetch_related("role_links__role"),
            lambda member: (
                link(member, str(member.user)),
                ", ".join(sorted(held.role.name for held in member.role_links.all())) or "-",
                "Yes" if member.is_admin else "No",
                format_utc(member.created_at),
            ),
        )
        return [panel, *super().get_panels(request, row)]


@admin.register(OrganizationRole)
class OrganizationRoleAdmin(Pages):
    """Role templates of organizations."""

    section = "Organizations"
    title = "Organization roles"
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    fields = ("id", "name", "type", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit organization role",
            "Organization tokens contain this name, so applications may depend on it.",
            partial(crud.change, OrganizationRoleSerializer), form=forms.NameForm,
            initial=admin_actions.initial_values(forms.NameForm),
        ),
        Operation(
            "permissions", "Choose permissions",
            "Permissions that are not selected are removed from the role.",
            partial(crud.assign, services.PERMISSIONS, "permission_ids"),
            form=forms.PermissionsForm,
            initial=partial(crud.get_assigned, services.PERMISSIONS, "permission_ids"),
        ),
        Operation(
            "scopes", "Choose scopes", "Scopes that are not selected are removed from the role.",
            partial(crud.assign, services.RESOURCE_SCOPES, "scope_ids"), form=ScopesForm,
            initial=partial(crud.get_assigned, services.RESOURCE_SCOPES, "scope_ids"),
        ),
        Operation(
            "delete", "Delete organization role", "Removes the role from all its members.",
            crud.remove, is_destructive=True,
        ),
        Operation(
            "create", "Create organization role", "Members of every organization can have this role.",
            partial(crud.create, OrganizationRole, OrganizationRoleSerializer),
            form=forms.NewRoleForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_panels(self, request: Any, row: OrganizationRole) -> list[Panel]:
        """Return the panels of the role's permissions and scopes, and those of other apps."""
        return [
            build_panel(
                "Permissions", ("Permission", "Description"), services.PERMISSIONS.items_of(row.pk),
                lambda permission: (permission.name, permission.description),
            ),
            build_panel(
                "Scopes", ("Scope", "API resource"),
                services.RESOURCE_SCOPES.items_of(row.pk).select_related("resource"),
                lambda scope: (scope.name, link(scope.resource)),
            ),
            *super().get_panels(request, row),
        ]  # fmt: skip


@admin.register(OrganizationPermission)
class OrganizationPermissionAdmin(Pages):
    """The permissions of organization roles."""

    section = "Organizations"
    title = "Organization permissions"
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    fields = ("id", "name", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit organization permission",
            "Organization tokens contain the name as a scope, so applications may depend on it.",
            partial(crud.change, OrganizationPermissionSerializer), form=forms.NameForm,
            initial=admin_actions.initial_values(forms.NameForm),
        ),
        Operation(
            "delete", "Delete organization permission", "Removes the permission from all roles.",
            crud.remove, is_destructive=True,
        ),
        Operation(
            "create", "Create organization permission",
            "Members have the permission once one of their roles has it.",
            partial(crud.create, OrganizationPermission, OrganizationPermissionSerializer),
            form=forms.NameForm, needs_row=False,
        ),
    )  # fmt: skip


@admin.register(Membership)
class MembershipAdmin(Pages):
    """The members of organizations."""

    section = "Organizations"
    title = "Members"
    list_display = ("user", "organization", "is_admin", "created_at")
    list_filter = ("is_admin",)
    list_select_related = ("user", "organization")
    search_fields = ("user__search_text", "organization__name")
    fields = ("id", "user_link", "organization_link", "roles", "is_admin", "created_at")
    operations = (
        Operation(
            "roles", "Choose roles", "The roles apply only in this organization.", admin_actions.set_roles,
            form=forms.MemberRolesForm,
            initial=partial(crud.get_assigned, services.MEMBER_ROLES, "organization_role_ids"),
        ),
        Operation(
            "change", "Edit member",
            "Administrators of an organization can manage its members in applications.",
            admin_actions.change_member, form=forms.MemberForm,
            initial=admin_actions.initial_values(forms.MemberForm),
        ),
        Operation(
            "remove", "Remove member",
            "Removes the user, and the user's roles, from the organization. The account remains.",
            admin_actions.remove_member, is_destructive=True,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return members with their users and organizations."""
        return super().get_queryset(request).select_related("user", "organization")

    def get_row_name(self, row: Any) -> str:
        return f"{row.user} in {row.organization}"

    @admin.display(description="User")
    def user_link(self, member: Membership) -> str:
        return _render_link(member.user)

    @admin.display(description="Organization")
    def organization_link(self, member: Membership) -> str:
        return _render_link(member.organization)

    @admin.display(description="Roles")
    def roles(self, member: Membership) -> str:
        return ", ".join(role.name for role in services.MEMBER_ROLES.items_of(member.pk)) or "-"


def _render_link(row: Any) -> str:
    cell = link(row)
    return format_html('<a href="{}">{}</a>', cell.href, cell.text)


def _build_user_panels(user: User) -> list[Panel]:
    members = Membership.objects.filter(user=user).order_by("-created_at", "-pk")
    return [
        build_panel(
            "Organizations",
            ("Organization", "Administrator", "Joined"),
            members.select_related("organization"),
            lambda member: (
                link(member.organization),
                "Yes" if member.is_admin else "No",
                format_utc(member.created_at),
            ),
        )
    ]


register_panels(User, _build_user_panels)
