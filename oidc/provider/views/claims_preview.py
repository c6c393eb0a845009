"""POST /applications/:id/claims-preview."""

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from database import ids
from identity.rest.fields import Line
from oidc.applications.models import Application
from oidc.provider import claims_preview


class ClaimsPreviewSerializer(serializers.Serializer[Any]):
    """The user, the target and the scopes of a token request that is not made."""

    user_id = Line(max_length=64)
    organization_id = Line(max_length=64, required=False, default="", allow_blank=True)
    resource = Line(max_length=2048, required=False, default="", allow_blank=True)
    scope = Line(max_length=2048, required=False, default="openid")

    rules: ClassVar = {"user_id": claims_preview.get_user, "resource": claims_preview.check_resource}


class ExplainedClaimsSerializer(serializers.Serializer[Any]):
    """The claims of each place, with ``value`` and ``source``, and the names of those that are too large."""

    id_token = serializers.DictField()
    userinfo = serializers.DictField()
    access_token = serializers.DictField()
    omitted = serializers.ListField(child=serializers.CharField())


class ClaimsPreview(APIView):
    """The claims that an application would get about a user."""

    request_serializers = {"post": ClaimsPreviewSerializer}
    response_serializers = {"post": ExplainedClaimsSerializer}

    def post(self, request: Request, pk: str) -> Response:
        """Show the claims that an application would get about a user, and where each comes from."""
        application_id = ids.parse(pk)
        application = Application.objects.filter(pk=application_id).first() if application_id else None
        if application is None:
            raise NotFound("application not found")
        serializer = ClaimsPreviewSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        explained = claims_preview.build(application, **serializer.validated_data)
        return Response(explained, headers={"Cache-Control": "no-store"})
