"""Organizations, their members and templates on the operators' site."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from identity.operator_kit import crud
from identity.operator_kit.operations import SHOWN, Operation, Panel
from identity.operator_kit.pages import Pages, beside, link
from identity.operator_kit.timestamps import text
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
    shown = ("id", "name", "description", "logo_url", "metadata", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit", "What applications and people are shown of it.",
            lambda order: crud.change(OrganizationSerializer, order), form=forms.OrganizationForm,
            initial=admin_actions.initial_values(forms.OrganizationForm),
        ),
        Operation(
            "add-members", "Add members", "All of them or, when one cannot be added, none.",
            admin_actions.add_members, form=forms.NewMembersForm,
        ),
        Operation(
            "delete", "Delete", "Its memberships go with it. The people stay.",
            admin_actions.remove, grave=True,
        ),
        Operation(
            "create", "New organization", "It has no members at first.",
            lambda order: crud.create(Organization, OrganizationSerializer, order),
            form=forms.OrganizationForm, row_needed=False,
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

    def panels(self, request: Any, row: Organization) -> list[Panel]:
        """Show the newest members."""
        found = Membership.objects.filter(organization=row).select_related("user")
        members = list(found.prefetch_related("role_links__role").order_by("-created_at", "-pk")[: SHOWN + 1])
        rows = [
            (
                link(member, str(member.user)),
                ", ".join(sorted(held.role.name for held in member.role_links.all())) or "-",
                "Yes" if member.is_admin else "No",
                text(member.created_at),
            )
            for member in members[:SHOWN]
        ]
        heads = ("User", "Roles", "Administrator", "Joined")
        return [Panel("Members", heads, rows, cut=len(members) > SHOWN), *super().panels(request, row)]


@admin.register(OrganizationRole)
class OrganizationRoleAdmin(Pages):
    """Role templates of organizations."""

    section = "Organizations"
    title = "Organization roles"
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    shown = ("id", "name", "type", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit", "Tokens of organizations name roles: applications may look for this name.",
            lambda order: crud.change(OrganizationRoleSerializer, order), form=forms.NameForm,
            initial=admin_actions.initial_values(forms.NameForm),
        ),
        Operation(
            "permissions", "Choose permissions", "What is not ticked is taken away.",
            lambda order: crud.assign(services.PERMISSIONS, order, "permission_ids"),
            form=forms.PermissionsForm,
            initial=lambda role: {"permission_ids": crud.assigned(services.PERMISSIONS, role)},
        ),
        Operation(
            "scopes", "Choose scopes", "What is not ticked is taken away.",
            lambda order: crud.assign(services.RESOURCE_SCOPES, order, "scope_ids"), form=ScopesForm,
            initial=lambda role: {"scope_ids": crud.assigned(services.RESOURCE_SCOPES, role)},
        ),
        Operation("delete", "Delete", "Whoever had it has it no more.", crud.remove, grave=True),
        Operation(
            "create", "New organization role", "A template: members of any organization can have it.",
            lambda order: crud.create(OrganizationRole, OrganizationRoleSerializer, order),
            form=forms.NewRoleForm, row_needed=False,
        ),
    )  # fmt: skip

    def panels(self, request: Any, row: OrganizationRole) -> list[Panel]:
        """Show the permissions and scopes of the role."""
        permissions = [
            (held.name, held.description) for held in services.PERMISSIONS.items_of(row.pk)[:SHOWN]
        ]
        scopes = services.RESOURCE_SCOPES.items_of(row.pk).select_related("resource")[:SHOWN]
        return [
            Panel("Permissions", ("Permission", "Description"), permissions),
            Panel(
                "Scopes", ("Scope", "API resource"), [(scope.name, link(scope.resource)) for scope in scopes]
            ),
            *super().panels(request, row),
        ]


@admin.register(OrganizationPermission)
class OrganizationPermissionAdmin(Pages):
    """The permissions of organization roles."""

    section = "Organizations"
    title = "Organization permissions"
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    shown = ("id", "name", "description", "created_at", "updated_at")
    operations = (
        Operation(
            "change", "Edit", "In tokens its name is a scope.",
            lambda order: crud.change(OrganizationPermissionSerializer, order), form=forms.NameForm,
            initial=admin_actions.initial_values(forms.NameForm),
        ),
        Operation("delete", "Delete", "Roles lose it.", crud.remove, grave=True),
        Operation(
            "create", "New organization permission", "Nobody has it until a role does.",
            lambda order: crud.create(OrganizationPermission, OrganizationPermissionSerializer, order),
            form=forms.NameForm, row_needed=False,
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
    shown = ("id", "person", "of", "roles", "is_admin", "created_at")
    operations = (
        Operation(
            "roles", "Choose roles", "In this organization, and in no other.", admin_actions.set_roles,
            form=forms.MemberRolesForm,
            initial=lambda member: {"organization_role_ids": crud.assigned(services.MEMBER_ROLES, member)},
        ),
        Operation(
            "change", "Edit", "Administrators of an organization manage its members, in applications.",
            admin_actions.change_member, form=forms.MemberForm,
            initial=admin_actions.initial_values(forms.MemberForm),
        ),
        Operation(
            "remove", "Take out", "With the roles held there. The person stays.",
            admin_actions.remove_member, grave=True,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return members with their users and organizations."""
        return super().get_queryset(request).select_related("user", "organization")

    def name_of(self, row: Any) -> str:
        return f"{row.user} in {row.organization}"

    @admin.display(description="User")
    def person(self, member: Membership) -> str:
        return _linked(member.user)

    @admin.display(description="Organization")
    def of(self, member: Membership) -> str:
        return _linked(member.organization)

    @admin.display(description="Roles")
    def roles(self, member: Membership) -> str:
        return ", ".join(role.name for role in services.MEMBER_ROLES.items_of(member.pk)) or "-"


def _linked(row: Any) -> str:
    cell = link(row)
    return format_html('<a href="{}">{}</a>', cell.href, cell.text)


@beside(User)
def _of_user(user: User) -> list[Panel]:
    found = Membership.objects.filter(user=user).select_related("organization")
    members = list(found.order_by("-created_at", "-pk")[: SHOWN + 1])
    rows = [
        (link(member.organization), "Yes" if member.is_admin else "No", text(member.created_at))
        for member in members[:SHOWN]
    ]
    return [
        Panel("Organizations", ("Organization", "Administrator", "Joined"), rows, cut=len(members) > SHOWN)
    ]
