"""The API of the settings of OpenID Connect."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.rest.etags import etag, expected_versions
from oidc.settings import services
from oidc.settings.models import OidcSettings
from oidc.settings.serializers import OidcSettingsSerializer


class OidcSettingsView(APIView):
    """The tenant's settings of OpenID Connect."""

    serializer_class = OidcSettingsSerializer
    etag_actions = frozenset({"get", "patch"})
    if_match_actions = frozenset({"patch"})

    def get(self, request: Request) -> Response:
        """Get the settings of OpenID Connect."""
        return _respond(services.current())

    def patch(self, request: Request) -> Response:
        """Change the settings of OpenID Connect."""
        settings = services.current()
        serializer = OidcSettingsSerializer(settings, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        expected = expected_versions(request, settings.pk)
        caller: Any = request.user
        fields = serializer.validated_data
        services.change(fields, expected=expected, is_proven=caller.has_signed_in_recently)
        return _respond(services.current())


def _respond(settings: OidcSettings) -> Response:
    return Response(
        {name: getattr(settings, name) for name in OidcSettingsSerializer().get_fields()},
        headers={"ETag": etag(settings.pk, settings.version)},
    )
