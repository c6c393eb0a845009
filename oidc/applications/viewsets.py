"""/applications, their system roles, and the organizations they are bound to."""

from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from database import ids
from identity.core import branding
from identity.organizations.serializers import NamedSerializer
from identity.organizations.viewsets import OfOrganization
from identity.rest.assignment_view import AssignmentView
from identity.rest.etags import check_unversioned, expected_versions
from identity.rest.filters import contains
from identity.rest.serializers import IdsSerializer
from identity.rest.viewsets import CrudViewSet, Row, TenantViewSet
from identity.roles.serializers import RoleSerializer
from oidc.applications import allowed_lists, bindings, client_secrets, services
from oidc.applications.models import PUBLIC_TYPES, Application, OrganizationApplication
from oidc.applications.serializers import (
    METADATA,
    ApplicationSecretSerializer,
    ApplicationSerializer,
    CreatedSecretSerializer,
    NewSecretSerializer,
    OrganizationApplicationSerializer,
    RegisteredApplicationSerializer,
    SecretSerializer,
)

_BRIEF = ("id", "name", "type", "description", "client_id")


class ApplicationViewSet(CrudViewSet):
    """Applications."""

    model = Application
    resource_name = "application"
    serializer_class = ApplicationSerializer
    request_serializers = {"secret": None}
    response_serializers = {"create": RegisteredApplicationSerializer, "secret": SecretSerializer}
    columns = (
        *_BRIEF,
        *(name for name in METADATA if name not in allowed_lists.FIELDS),
        "is_third_party",
        "branding",
        "is_restricted",
        "created_at",
        "updated_at",
    )
    filters = {"search": contains("name", "description", "client_id")}

    def row(self, pk: Any) -> Row | None:
        """Return an application with the lists of who may use it."""
        row = super().row(pk)
        allowed_lists.add_to([row] if row else [])
        return row

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of applications with the lists of who may use them."""
        page: Any = super().paginate_queryset(queryset)
        allowed_lists.add_to(page or [])
        return page

    def to_representation(self, row: Row) -> Row:
        """Return a row with the OAuth settings nested."""
        shown = super().to_representation(row)
        # In rows of release 0.1.0 the column has its default.
        shown["require_pkce"] = shown["require_pkce"] or shown["type"] in PUBLIC_TYPES
        shown["oidc_client_metadata"] = {name: shown.pop(name) for name in METADATA}
        shown["branding"] = branding.describe(shown["branding"])
        return shown

    def create(self, request: Request, *_: Any, **__: Any) -> Response:
        """Register an application. Only this response contains its secret."""
        application, secret = services.register(**self.validated_fields(request))
        return self.row_response(application.pk, secret={"client_secret": secret})

    def perform_update(self, row: Application, fields: Row, expected: frozenset[int] | None) -> None:
        """Change an application. Replacing or removing ``required_acr`` needs a recent sign-in."""
        caller: Any = self.request.user
        services.change(row, fields, expected=expected, is_proven=caller.has_signed_in_recently)

    def perform_destroy(self, row: Application, expected: frozenset[int] | None) -> None:
        """Delete an application."""
        services.remove(row, expected=expected)

    def secret(self, request: Request, pk: str) -> Response:
        """Replace all secrets of an application by a new one. The others stop working at once."""
        application = self.get_object()
        caller: Any = request.user
        secret = services.rotate_secret(application, is_proven=caller.has_signed_in_recently)
        return Response(
            {"client_id": application.client_id, "client_secret": secret},
            headers={"Cache-Control": "no-store"},
        )


class ApplicationSecrets(TenantViewSet):
    """The secrets of an application. Only the response to their creation has their values."""

    model = Application
    resource_name = "application"
    pagination_class = None  # an application has few
    serializer_class = ApplicationSecretSerializer
    request_serializers = {"create": NewSecretSerializer}
    optional_bodies = frozenset({"create"})
    response_serializers = {"create": CreatedSecretSerializer, "destroy": None}

    def list(self, request: Request, **_: Any) -> Response:
        """Return the secrets, newest first, without their values. Expired ones are included."""
        return Response(client_secrets.find_all(self.get_object()))

    def create(self, request: Request, **_: Any) -> Response:
        """Create a further secret. The other secrets still work. Only this response contains its value."""
        application = self.get_object()
        caller: Any = request.user
        serializer = NewSecretSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        is_proven = caller.has_signed_in_recently
        row, secret = client_secrets.create(application, **serializer.validated_data, is_proven=is_proven)
        created = {name: getattr(row, name) for name in ("id", "name", "created_at", "expires_at")}
        return Response(created | {"client_secret": secret}, headers={"Cache-Control": "no-store"})

    def destroy(self, request: Request, secret_pk: str, **_: Any) -> Response:
        """Delete a secret. It stops working at once. The first secret has the id of the application."""
        secret_id = ids.parse(secret_pk)
        application = self.get_object()
        if secret_id is None:
            raise client_secrets.NoSuchSecret
        check_unversioned(request)
        client_secrets.remove(application, secret_id)
        return Response(None)


class ApplicationRoles(AssignmentView):
    """The system roles of a machine application."""

    assignment = bindings.ROLES
    parent_name = "application"
    columns = ("id", "name", "description", "type", "created_at", "updated_at")
    serializer_class = RoleSerializer


class RoleApplications(AssignmentView):
    """The applications that have a system role."""

    http_method_names = ["get", "head", "options"]
    assignment = bindings.OF_ROLE
    parent_name = "role"
    columns = _BRIEF
    serializer_class = OrganizationApplicationSerializer


class OrganizationApplicationViewSet(OfOrganization):
    """The applications bound to an organization."""

    model = OrganizationApplication
    resource_name = "application"
    serializer_class = OrganizationApplicationSerializer
    request_serializers = {"create": IdsSerializer(ids_field="application_ids")}
    response_serializers = {"create": None}
    columns = tuple(f"application__{name}" for name in _BRIEF)

    def to_representation(self, row: Row) -> Row:
        """Return the application of a binding."""
        return {name: row[f"application__{name}"] for name in _BRIEF}

    def list(self, request: Request, **_: Any) -> Response:
        """Return a page of applications."""
        return self.page_response(self.rows())

    def create(self, request: Request, **_: Any) -> Response:
        """Bind applications."""
        serializer = IdsSerializer(data=request.data, ids_field="application_ids")
        serializer.is_valid(raise_exception=True)
        bindings.bind(self.pk(), serializer.ids)
        return Response(None)

    def destroy(self, request: Request, pk: str, application_pk: str) -> Response:
        """Unbind an application."""
        bound = bindings.get_binding(pk, application_pk)
        bindings.unbind(bound, expected=expected_versions(request, bound.pk))
        return Response(None)


class OrganizationApplicationRoles(AssignmentView):
    """The roles of a bound application in the organization."""

    assignment = bindings.IN_ORGANIZATION
    parent_name = "application"
    columns = ("id", "name", "description")
    serializer_class = NamedSerializer

    def parent_id(self) -> UUID:
        """Return the binding's id."""
        return self.find_parent()[0]

    def find_parent(self) -> tuple[UUID, int]:
        """Return the binding's id and version."""
        bound = bindings.get_binding(self.kwargs["pk"], self.kwargs["application_pk"])
        return bound.pk, bound.version
