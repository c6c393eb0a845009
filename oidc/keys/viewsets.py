"""/signing-keys."""

from typing import Any

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from identity.core.records import Stale
from identity.core.serializers import Timestamp
from identity.core.viewsets import Row, TenantViewSet, expected_versions
from oidc.keys import services
from oidc.keys.models import SigningKey


class SigningKeySerializer(serializers.Serializer[None]):
    """A signing key, without a word of its private half."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SigningKey.Status.choices)
    algorithm = serializers.CharField()
    created_at = Timestamp()


class SigningKeyViewSet(TenantViewSet):
    """Signing keys: the active one and those before it."""

    model = SigningKey
    thing = "signing key"
    serializer_class = SigningKeySerializer
    pagination_class = None
    takes = {"rotate": None}
    columns = ("id", "status", "created_at")

    def shape(self, row: Row) -> Row:
        """Say what it signs with."""
        return {
            "id": row["id"],
            "status": row["status"],
            "algorithm": "ES256",
            "created_at": row["created_at"],
        }

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Answer with all of them."""
        rows = self.get_queryset().values(*self.columns)
        return Response([self.shape(row) for row in rows])

    def destroy(self, request: Request, *_: Any, **__: Any) -> Response:
        """Delete a previous key."""
        key = self.get_object()
        if expected_versions(request, key.pk) is not None:
            raise Stale  # a key has no versions, so that no tag can be its own
        services.remove(key)
        return Response(None)

    @action(methods=["post"], detail=False)
    def rotate(self, request: Request) -> Response:
        """Make a new active key."""
        key = services.rotate()
        return Response(self.shape({name: getattr(key, name) for name in self.columns}))
