"""/administrators and /administrator-invitations, at the root."""

from typing import Any, cast

from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.etags import expected_versions
from identity.rest.pagination import EnvelopePagination
from identity.rest.viewsets import CrudViewSet, ReadViewSet, Row
from management.administrators import invitations, rows_with_tenants, services
from management.administrators.models import Administrator, Invitation, parse_id
from management.administrators.serializers import (
    AdministratorWriteSerializer,
    InvitationSerializer,
    NewInvitationSerializer,
)


class _WithTenants(ReadViewSet):
    """Rows with the slugs of their tenants."""

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return a page."""
        pages = cast("EnvelopePagination", self.paginator)
        rows = rows_with_tenants.read(pages.window(self.get_queryset(), request), *self.columns, "version")
        return self.get_paginated_response([self.to_representation(row) for row in rows])

    def row(self, pk: Any) -> Row | None:
        """Return a row with the slugs of its tenants."""
        found = rows_with_tenants.read(self.get_queryset().filter(pk=pk), *self.columns, "version")
        return found[0] if found else None


class AdministratorViewSet(_WithTenants, CrudViewSet):
    """Administrators."""

    model = Administrator
    resource_name = "administrator"
    serializer_class = AdministratorWriteSerializer
    columns = ("id", "username", "email", "phone", "is_superuser", "role", "created_at", "updated_at")

    def parse_id(self, text: str) -> int | None:
        """Return the id of a path, or None if it is not a whole number."""
        return parse_id(text)

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete an administrator. You must have signed in recently (``ADMIN_PROOF_SECONDS``)."""
        return super().destroy(request, *args, **kwargs)

    def perform_create(self, fields: Row) -> int:
        """Create an administrator."""
        return services.create(**fields, by=cast("Administrator", self.request.user)).pk

    def perform_update(self, row: Administrator, fields: Row, expected: frozenset[int] | None) -> None:
        """Change an administrator."""
        services.change(row, fields, expected=expected, by=cast("Administrator", self.request.user))

    def perform_destroy(self, row: Administrator, expected: frozenset[int] | None) -> None:
        """Delete an administrator."""
        services.remove(row, expected=expected, by=cast("Administrator", self.request.user))


class InvitationViewSet(_WithTenants):
    """Invitations of administrators."""

    model = Invitation
    resource_name = "invitation"
    serializer_class = InvitationSerializer
    response_serializers = {"create": NewInvitationSerializer}
    etag_actions = frozenset({"create", "retrieve"})
    if_match_actions = frozenset({"destroy"})
    columns = (
        "id", "email", "is_superuser", "role", "invited_by__username", "is_mailed", "expires_at",
        "created_at", "updated_at",
    )  # fmt: skip

    def to_representation(self, row: Row) -> Row:
        """Return an invitation with the username of its inviter."""
        row["invited_by"] = row.pop("invited_by__username")
        return super().to_representation(row)

    def create(self, request: Request, *_: Any, **__: Any) -> Response:
        """Invite a person. The response has the link, unless it was sent by mail."""
        fields = self.validated_fields(request)
        invited = invitations.invite(**fields, by=cast("Administrator", request.user))
        return self.row_response(invited.invitation.pk, secret={"link": invited.link or None})

    def destroy(self, request: Request, *_: Any, **__: Any) -> Response:
        """Revoke an invitation."""
        row = self.get_object()
        by = cast("Administrator", request.user)
        invitations.revoke(row, by=by, expected=expected_versions(request, row.pk))
        return Response(None)
