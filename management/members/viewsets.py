"""/m2m/organizations/:id/members: the members API for third-party applications."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.functional import cached_property
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from database import ids
from identity.core.tenant_statements import uuid
from identity.organizations import enrolment, row_counts
from identity.organizations import services as organizations
from identity.organizations.models import MemberCount, Membership, Organization
from identity.rest.etags import etag, expected_versions
from identity.rest.list_query import BoundListQuery, ListQuery
from identity.rest.pagination import EnvelopePagination
from identity.rest.serializers import IdsSerializer
from identity.rest.viewsets import Row
from identity.users import identifiers
from management.members import errors
from management.members.authentication import MachineAuthentication, ManagesMembers
from management.members.errors import AdminStays, MemberGone, OrganizationGone
from management.members.serializers import (
    EnrolSerializer,
    FilterSerializer,
    MemberRoleSerializer,
    OrganizationMemberSerializer,
)

_COLUMNS: Final = (
    "user_id",
    "user__username",
    "user__phone",
    "user__email",
    "user__name",
    "is_admin",
    "created_at",
    "user__created_at",
)
_MEMBERS: Final = ListQuery(
    lambda: Membership.objects.filter(organization=uuid("organization_id")).order_by("-created_at", "-pk"),
    _COLUMNS,
    lambda: MemberCount.objects.count_of(uuid("organization_id")),
)
_FILTERS: Final = frozenset(FilterSerializer().fields)
_ROLES_HERE: Final = replace(organizations.MEMBER_ROLES, ids_field="role_ids")
_LIST: Final = 41300
_ENROL: Final = 41302
_REMOVE: Final = 41303
_ROLES: Final = 41304


class MemberPagination(EnvelopePagination):
    """The members API's page: ``{total, result, page, page_size}``."""

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page."""
        return Response({"total": self.total, "result": data, "page": self.page, "page_size": self.page_size})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the page's schema for the OpenAPI document."""
        page = super().get_paginated_response_schema(schema)
        properties = {
            ("result" if name == "data" else name): part for name, part in page["properties"].items()
        }
        return page | {"required": list(properties), "properties": properties}


class MemberGroup(GenericViewSet[Membership]):
    """Base class of the operations on the members of one organization."""

    authentication_classes = (MachineAuthentication,)
    permission_classes = (ManagesMembers,)
    pagination_class = MemberPagination
    serializer_class = OrganizationMemberSerializer
    failure_codes: dict[str, int]

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        """Return the handler that formats errors for the members API."""
        return errors.handle

    def organization(self) -> Organization:
        """Return the organization in the path.

        Raises:
            OrganizationGone: the organization was deleted.

        """
        pk = ids.parse(self.kwargs["organization_pk"])
        organization = Organization.objects.filter(pk=pk).first() if pk else None
        if organization is None:
            raise OrganizationGone
        return organization

    def member(self) -> Membership:
        """Return the member in the path.

        Raises:
            MemberGone: the user is not a member.

        """
        try:
            return organizations.get_membership(self.kwargs["organization_pk"], self.kwargs["user_pk"])
        except organizations.NoSuchMember:
            raise MemberGone from None


def _shape(row: Row) -> Row:
    return {
        "id": row["user_id"],
        "username": row["user__username"] or None,
        "primary_phone": row["user__phone"] or None,
        "primary_email": row["user__email"] or None,
        "name": row["user__name"] or None,
        "is_admin": row["is_admin"],
        "joined_at": row["created_at"],
        "created_at": row["user__created_at"],
    }


class MemberViewSet(MemberGroup):
    """Members of the organization."""

    failure_codes = {"GET": _LIST, "POST": _ENROL, "DELETE": _REMOVE}
    queries = {"list": FilterSerializer}
    request_serializers = {"create": EnrolSerializer}

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the memberships of the organization, newest first."""
        return Membership.objects.filter(organization=self._id()).order_by("-created_at", "-pk")

    def list(self, request: Request, **_: Any) -> Response:
        """Return a page of members. ``phone`` matches the whole number, ``name`` any part of the name."""
        has_filters = not _FILTERS.isdisjoint(request.query_params)
        rows: Any = self._matches.values(*_COLUMNS) if has_filters else self._list_query()
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([_shape(row) for row in page or []])

    def _list_query(self) -> BoundListQuery:
        def rows() -> QuerySet[Membership, Row]:
            query: QuerySet[Membership, Row] = self.get_queryset().values(*_COLUMNS)
            return query

        return BoundListQuery(_MEMBERS, rows, self.get_queryset, organization_id=self._id())

    @cached_property
    def _matches(self) -> QuerySet[Membership]:
        """The memberships that match the filters in the query string."""
        query = FilterSerializer(data=self.request.query_params.dict())
        query.is_valid(raise_exception=True)
        members, filters = self.get_queryset(), query.validated_data
        if filters.get("phone"):
            members = members.filter(user__phone_key=identifiers.parse_phone(filters["phone"]))
        if filters.get("name"):
            members = members.filter(user__name__icontains=filters["name"])
        if "is_admin" in filters:
            members = members.filter(is_admin=filters["is_admin"])
        return members

    def total(self, rows: QuerySet[Any] | BoundListQuery) -> int:
        """Return the number of members: the stored number, or a count of those that match the filters."""
        if isinstance(rows, BoundListQuery):
            return row_counts.count_members(self._id())
        return self._matches.count()  # unlike ``rows``, it joins the users only for a filter

    def _id(self) -> UUID | None:
        return ids.parse(self.kwargs["organization_pk"])

    def create(self, request: Request, **_: Any) -> Response:
        """Add a member by phone number.

        The user who has verified the phone number becomes a member. If there is none, a user is created,
        and an unverified copy of the number is removed from other accounts. The response contains the name,
        username and email of an existing user, even if the user belongs to other organizations.

        An application can add 60 existing users per hour by default. Requests that remove a number from an
        account, or whose email belongs to another user, count too. Above the limit, every phone number that
        does not belong to a member gets 429.
        """
        caller: Any = request.user  # a ClientPrincipal: see ManagesMembers
        serializer = EnrolSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            member = enrolment.enroll(
                self.organization(), **serializer.validated_data, application_id=caller.application.pk
            )
        except organizations.NoSuchOrganization:
            raise OrganizationGone from None
        return Response(_shape(Membership.objects.filter(pk=member.pk).values(*_COLUMNS).get()))

    def destroy(self, request: Request, **_: Any) -> Response:
        """Remove a member. The user is not deleted."""
        try:
            member = self.member()
            expected = expected_versions(request, member.pk)
            organizations.remove_member(member, refuse_admins=True, expected=expected)
        except organizations.MemberIsAdmin:
            raise AdminStays from None
        except organizations.NoSuchMember:
            raise MemberGone from None
        return Response(None)


class MemberRoles(MemberGroup):
    """The roles of a member in the organization."""

    failure_codes = {"GET": _ROLES, "PUT": _ROLES}
    pagination_class = None  # type: ignore[assignment]  # a member has few
    request_serializers = {"update": IdsSerializer(ids_field="role_ids")}
    response_serializers = {"list": MemberRoleSerializer, "update": None}

    def list(self, request: Request, **_: Any) -> Response:
        """Return the roles of the member."""
        member = self.member()
        roles = organizations.MEMBER_ROLES.items_of(member.pk)
        rows = list(roles.values("id", "name", "description", "type", "created_at"))
        return Response(rows, headers={"ETag": etag(member.pk, member.version)})

    def update(self, request: Request, **_: Any) -> Response:
        """Replace the roles of a member in the organization."""
        serializer = IdsSerializer(data=request.data, ids_field="role_ids")
        serializer.is_valid(raise_exception=True)
        try:
            member = self.member()
            organizations.set_member_roles(
                member,
                serializer.ids,
                assignment=_ROLES_HERE,
                expected=expected_versions(request, member.pk),
            )
        except organizations.NoSuchMember:
            raise MemberGone from None
        return Response(None)
