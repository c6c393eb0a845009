"""Organizations, for operators to read."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from audit.moments import text
from identity.core.admin import Pages, beside, link
from identity.core.operations import SHOWN, Panel
from identity.organizations import services
from identity.organizations.models import (
    Membership,
    Organization,
    OrganizationPermission,
    OrganizationRole,
)
from identity.users.models import User


@admin.register(Organization)
class OrganizationAdmin(Pages):
    """Organizations and their members."""

    section = "Organizations"
    list_display = ("name", "description", "members", "created_at")
    search_fields = ("name", "description")
    shown = ("id", "name", "description", "logo_url", "metadata", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return organizations, each of whom knows how many belong to it."""
        counted: QuerySet[Any] = super().get_queryset(request).annotate(member_count=Count("memberships"))
        return counted

    @admin.display(description="Members")
    def members(self, organization: Any) -> int:
        """How many belong to it."""
        return int(organization.member_count)

    def panels(self, request: Any, row: Organization) -> list[Panel]:
        """Show the newest members."""
        found = Membership.objects.filter(organization=row).select_related("user")
        members = list(found.prefetch_related("role_links__role").order_by("-created_at", "-pk")[: SHOWN + 1])
        rows = [
            (
                link(member.user),
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
    """The templates of roles in organizations."""

    section = "Organizations"
    title = "Organization roles"
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    shown = ("id", "name", "type", "description", "created_at", "updated_at")

    def panels(self, request: Any, row: OrganizationRole) -> list[Panel]:
        """Show what the role holds."""
        permissions = [(one.name, one.description) for one in services.PERMISSIONS.of(row.pk)[:SHOWN]]
        scopes = services.RESOURCE_SCOPES.of(row.pk).select_related("resource")[:SHOWN]
        return [
            Panel("Permissions", ("Permission", "Description"), permissions),
            Panel("Scopes", ("Scope", "API resource"), [(one.name, link(one.resource)) for one in scopes]),
            *super().panels(request, row),
        ]


@admin.register(OrganizationPermission)
class OrganizationPermissionAdmin(Pages):
    """The permissions that organization roles can hold."""

    section = "Organizations"
    title = "Organization permissions"
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    shown = ("id", "name", "description", "created_at", "updated_at")


@beside(User)
def _of_user(user: User) -> list[Panel]:
    found = Membership.objects.filter(user=user).select_related("organization")
    members = list(found.order_by("-created_at", "-pk")[: SHOWN + 1])
    rows = [
        (link(one.organization), "Yes" if one.is_admin else "No", text(one.created_at))
        for one in members[:SHOWN]
    ]
    return [
        Panel("Organizations", ("Organization", "Administrator", "Joined"), rows, cut=len(members) > SHOWN)
    ]
