"""/organizations and their members."""

from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from database import ids
from identity.core import branding
from identity.core.tenant_statements import uuid
from identity.organizations import row_counts, services
from identity.organizations.models import MemberCount, Membership, Organization
from identity.organizations.serializers import (
    BriefOrganizationSerializer,
    MemberSerializer,
    NamedSerializer,
    OrganizationSerializer,
)
from identity.rest.assignment_view import AssignmentView
from identity.rest.etags import etag, expected_versions
from identity.rest.filters import contains
from identity.rest.list_query import BoundListQuery, ListQuery
from identity.rest.serializers import IdsSerializer
from identity.rest.viewsets import CrudViewSet, ListMixin, Row, TenantViewSet
from identity.users.models import User


class OrganizationViewSet(CrudViewSet):
    """Organizations."""

    model = Organization
    resource_name = "organization"
    serializer_class = OrganizationSerializer
    columns = (
        *("id", "name", "description", "logo_url", "metadata", "branding", "is_mfa_required"),
        *("member_count", "created_at", "updated_at"),
    )
    filters = {"search": contains("name", "description")}

    def rows(self) -> QuerySet[Any, Row]:
        """Return the organizations with their numbers of members."""
        organizations = self.get_queryset().annotate(
            member_count=MemberCount.objects.count_per_organization()
        )
        rows: QuerySet[Any, Row] = organizations.values(*self.columns, "version")
        return rows

    def to_representation(self, row: Row) -> Row:
        """Return a row with all members of its branding."""
        shown = super().to_representation(row)
        return shown | {"branding": branding.describe(shown["branding"])}

    def perform_create(self, fields: Row) -> UUID:
        """Create an organization."""
        return services.create(fields).pk

    def perform_update(self, row: Organization, fields: Row, expected: frozenset[int] | None) -> None:
        """Change an organization. Removing its requirement of two factors needs a recent sign-in."""
        caller: Any = self.request.user
        services.change(row, fields, expected=expected, is_proven=caller.has_signed_in_recently)

    def perform_destroy(self, row: Organization, expected: frozenset[int] | None) -> None:
        """Delete an organization with its memberships."""
        services.remove(row, expected=expected)


class UserOrganizations(ListMixin):
    """The organizations of a user."""

    model = Organization
    resource_name = "user"
    serializer_class = BriefOrganizationSerializer
    columns = ("id", "name", "description", "member_count", "created_at")

    def rows(self) -> QuerySet[Any, Row]:
        """Return the organizations with their numbers of members."""
        user_organizations = Membership.objects.filter(user=self.pk()).values("organization_id")
        organizations = (
            self.get_queryset()
            .filter(pk__in=user_organizations)
            .annotate(member_count=MemberCount.objects.count_per_organization())
        )
        rows: QuerySet[Any, Row] = organizations.values(*self.columns, "version")
        return rows

    def require_parent(self) -> None:
        """Raise ``NotFound`` if the user does not exist."""
        if not User.objects.filter(pk=self.pk()).exists():
            raise NotFound("user not found")


class OfOrganization(TenantViewSet):
    """Rows that belong to the organization in the path."""

    def get_queryset(self) -> QuerySet[Any]:
        """Return the rows of the organization in the path."""
        return super().get_queryset().filter(organization=ids.parse(self.kwargs["pk"]))

    def require_parent(self) -> None:
        """Raise ``NotFound`` if the organization does not exist."""
        organization_id = ids.parse(self.kwargs["pk"])
        if organization_id is None or not Organization.objects.filter(pk=organization_id).exists():
            raise NotFound("organization not found")


class MemberViewSet(OfOrganization):
    """The members of an organization."""

    model = Membership
    resource_name = "organization member"
    serializer_class = MemberSerializer
    request_serializers = {"create": IdsSerializer(ids_field="user_ids"), "partial_update": MemberSerializer}
    response_serializers = {"create": None}
    etag_actions = frozenset({"partial_update"})
    if_match_actions = frozenset({"partial_update"})
    columns = (
        "user_id",
        "user__username",
        "user__name",
        "user__email",
        "user__avatar",
        "created_at",
        "is_admin",
    )

    def total(self, rows: QuerySet[Any] | BoundListQuery) -> int:
        """Return the stored number of members."""
        return row_counts.count_members(ids.parse(self.kwargs["pk"]))

    def to_representation(self, row: Row) -> Row:
        """Return the user of a membership and the time of joining."""
        return {
            "id": row["user_id"],
            "username": row["user__username"],
            "name": row["user__name"],
            "email": row["user__email"],
            "avatar": row["user__avatar"],
            "joined_at": row["created_at"],
            "is_admin": row["is_admin"],
        }

    def list(self, request: Request, **_: Any) -> Response:
        """Return a page of members."""
        organization = ids.parse(self.kwargs["pk"])
        return self.page_response(
            BoundListQuery(_MEMBERS, self.rows, self.get_queryset, organization_id=organization)
        )

    def create(self, request: Request, **_: Any) -> Response:
        """Add users to an organization."""
        serializer = IdsSerializer(data=request.data, ids_field="user_ids")
        serializer.is_valid(raise_exception=True)
        services.add_members(self.pk(), serializer.ids)
        return Response(None)

    def partial_update(self, request: Request, pk: str, user_pk: str) -> Response:
        """Set whether a member is an administrator of the organization."""
        member = services.get_membership(pk, user_pk)
        serializer = MemberSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        services.change_member(
            member,
            is_admin=serializer.validated_data["is_admin"],
            expected=expected_versions(request, member.pk),
        )
        row = self.rows().filter(user=member.user_id).get()
        return Response(self.to_representation(row), headers={"ETag": etag(member.pk, row["version"])})

    def destroy(self, request: Request, pk: str, user_pk: str) -> Response:
        """Remove a member."""
        member = services.get_membership(pk, user_pk)
        services.remove_member(member, expected=expected_versions(request, member.pk))
        return Response(None)


_MEMBERS: Final = ListQuery(
    lambda: Membership.objects.filter(organization=uuid("organization_id")).order_by("-created_at", "-pk"),
    (*MemberViewSet.columns, "version"),
    lambda: MemberCount.objects.count_of(uuid("organization_id")),
)


class MemberRoles(AssignmentView):
    """The roles of a member in the organization."""

    assignment = services.MEMBER_ROLES
    parent_name = "organization member"
    columns = ("id", "name", "description")
    serializer_class = NamedSerializer
    member: Membership

    def parent_id(self) -> UUID:
        """Return the membership's id."""
        return self.find_parent()[0]

    def find_parent(self) -> tuple[UUID, int]:
        """Return the membership's id and version."""
        self.member = services.get_membership(self.kwargs["pk"], self.kwargs["user_pk"])
        return self.member.pk, self.member.version

    def replace(self, parent_id: UUID, item_ids: list[str], expected: frozenset[int] | None) -> None:
        """Replace the roles of the member."""
        services.set_member_roles(self.member, item_ids, expected=expected)
