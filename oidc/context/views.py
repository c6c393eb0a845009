"""GET /api/session/context."""

from typing import TYPE_CHECKING

from django.utils.decorators import method_decorator
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from oidc.context import builder
from oidc.context.authentication import EndUserAuthentication
from oidc.context.serializers import ContextSerializer, QuerySerializer
from oidc.provider.bearer import ContextPrincipal
from oidc.provider.cors import cross_origin

if TYPE_CHECKING:
    from typing import Any


class IsEndUser(BasePermission):
    """Allows requests with the access token of a user."""

    def has_permission(self, request: Request, view: "Any") -> bool:
        """Return whether the request was authenticated as a user."""
        return isinstance(request.user, ContextPrincipal)


@method_decorator(cross_origin("GET"), name="dispatch")  # type: ignore[arg-type]
class SessionContext(APIView):
    """The session context of an access token."""

    queries = {"get": QuerySerializer}
    response_serializers = {"get": ContextSerializer}
    authentication_classes = (EndUserAuthentication,)
    permission_classes = (IsEndUser,)

    def get(self, request: Request) -> Response:
        """Get the user, the application and the organizations of the access token."""
        assert isinstance(request.user, ContextPrincipal)  # noqa: S101 - IsEndUser checks it
        context = builder.build(request.user, self._organization_id(request))
        return Response(context, headers={"Cache-Control": "no-store"})

    def _organization_id(self, request: Request) -> str | None:
        """Return the requested organization, if any."""
        if "organization_id" not in request.query_params:
            return None
        query = QuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        organization_id: str = query.validated_data["organization_id"]
        return organization_id
