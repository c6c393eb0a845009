"""Administrator sign-in, and the current administrator."""

from typing import cast

from django.conf import settings
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.users.hashing_views import hashes_password
from management.administrators import sign_in, tokens
from management.administrators.models import Administrator
from management.administrators.permissions import IsAdministrator
from management.administrators.serializers import (
    AdministratorSerializer,
    AdministratorSignInSerializer,
    AdministratorTokenSerializer,
)


@hashes_password()
class SignIn(APIView):
    """Sign-in with username, password and second step."""

    request_serializers = {"post": AdministratorSignInSerializer}
    response_serializers = {"post": AdministratorTokenSerializer}
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def post(self, request: Request) -> Response:
        """Sign in as an administrator."""
        credentials = AdministratorSignInSerializer(data=request.data)
        credentials.is_valid(raise_exception=True)
        administrator = sign_in.authenticate(**credentials.validated_data)
        return Response(
            {
                "access_token": tokens.issue(administrator),
                "expires_in": settings.ADMINISTRATOR_TOKEN_SECONDS,
            },
            headers={"Cache-Control": "no-store"},
        )


class Me(APIView):
    """The administrator of the token."""

    response_serializers = {"get": AdministratorSerializer}
    permission_classes = (IsAdministrator,)

    def get(self, request: Request) -> Response:
        """Get the administrator of the token."""
        administrator = cast("Administrator", request.user)
        return Response(AdministratorSerializer(administrator).data)
