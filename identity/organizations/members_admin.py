"""The members of organizations on the operators' site."""

from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core.text_lists import join
from identity.operator_kit import crud, routes
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Link, Panel, build_panel, link
from identity.operator_kit.timestamps import format_time
from identity.organizations import admin_actions, forms, services
from identity.organizations.models import Membership, Organization
from identity.users.models import User
from identity.users.search import match_users


class OrganizationFilter(admin.SimpleListFilter):
    """The members of one organization. Links to its list set it."""

    title = _("Organization")
    parameter_name = "organization"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        # Without choices, Django would not apply the filter.
        if (value := self.value()) is None:
            return []
        pk = ids.parse(value)
        chosen = Organization.objects.filter(pk=pk).first() if pk else None
        return [(value, chosen.name if chosen else value)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value is None else queryset.filter(organization=ids.parse(value))


# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (gettext_noop("Administrator"),)


@admin.register(Membership)
class MembershipAdmin(Pages):
    """The members of organizations."""

    section = "Organizations"
    place = None  # each organization lists its own
    title = _("Members")
    list_display = ("user", "organization", "is_admin", "created_at")
    list_filter = (OrganizationFilter, "is_admin")
    list_select_related = ("user", "organization")
    search_fields = ("user__search_text", "organization__name")  # see get_search_results
    fields = ("id", "user_link", "organization_link", "roles", "is_admin", "created_at")
    operations = (
        Operation(
            "roles", _("Choose roles"), _("The roles apply only in this organization."),
            admin_actions.set_roles, form=forms.MemberRolesForm,
            initial=partial(crud.get_assigned, services.MEMBER_ROLES, "organization_role_ids"),
        ),
        Operation(
            "change", _("Edit member"),
            _("Administrators of an organization can manage its members in applications."),
            admin_actions.change_member, form=forms.MemberForm,
            initial=admin_actions.initial_values(forms.MemberForm),
        ),
        Operation(
            "remove", _("Remove member"),
            _("Removes the user, and the user's roles, from the organization. The account remains."),
            admin_actions.remove_member, is_destructive=True, sentence=_("Remove {name}"),
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return members with their users and organizations."""
        return super().get_queryset(request).select_related("user", "organization")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by user, as the list of users does, or by organization."""
        if search_term:
            matches = match_users(search_term, prefix="user__") | Q(organization__name__icontains=search_term)
            queryset = queryset.filter(matches)
        return queryset, False

    def get_row_name(self, row: Any) -> str:
        return gettext("%(user)s in %(organization)s") % {"user": row.user, "organization": row.organization}

    @admin.display(description=_("User"))
    def user_link(self, member: Membership) -> str:
        return _render_link(member.user)

    @admin.display(description=_("Organization"))
    def organization_link(self, member: Membership) -> str:
        return _render_link(member.organization)

    @admin.display(description=_("Roles"))
    def roles(self, member: Membership) -> str:
        return join(role.name for role in services.MEMBER_ROLES.items_of(member.pk)) or "-"


def get_list_url(organization: Organization) -> str:
    """Return the URL of the list of an organization's members."""
    return f"{routes.list_url(Membership)}?{urlencode({OrganizationFilter.parameter_name: organization.pk})}"


def _render_link(row: Any) -> str:
    cell = link(row)
    return format_html('<a href="{}">{}</a>', cell.href, cell.text)


def _build_user_panels(user: User) -> list[Panel]:
    members = Membership.objects.filter(user=user).order_by("-created_at", "-pk")
    return [
        build_panel(
            gettext("Organizations"),
            (gettext("Organization"), gettext("Administrator"), gettext("Joined")),
            members.select_related("organization"),
            lambda member: (
                link(member.organization),
                gettext("Yes") if member.is_admin else gettext("No"),
                format_time(member.created_at),
            ),
            empty=gettext("None. Add the user as a member on the page of an organization."),
            button=Link(gettext("All organizations"), routes.list_url(Organization)),
        )
    ]


register_panels(User, _build_user_panels)
