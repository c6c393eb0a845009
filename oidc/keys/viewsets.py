"""/signing-keys."""

from typing import Any, Final

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from identity.core.records import Stale
from identity.rest.etags import expected_versions
from identity.rest.fields import Timestamp
from identity.rest.viewsets import Row, TenantViewSet
from oidc.keys import services, usage
from oidc.keys.models import SigningKey

_DATES: Final = ("created_at", "published_at", "activated_at", "retired_at")
_SHOWN: Final = ("id", "status", "algorithm", *_DATES)


class SigningKeySerializer(serializers.Serializer[None]):
    """A signing key, without a word of its private half."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SigningKey.Status.choices)
    algorithm = serializers.CharField()
    created_at = Timestamp()
    published_at = Timestamp()
    activated_at = Timestamp(allow_null=True)
    retired_at = Timestamp(allow_null=True)


class SigningKeyDetailSerializer(SigningKeySerializer):
    """A signing key, and what deleting it would do."""

    unexpired_tokens = serializers.IntegerField()
    safe_to_delete_at = Timestamp(allow_null=True)


class SigningKeyViewSet(TenantViewSet):
    """Signing keys: the active one, the next one and those before."""

    model = SigningKey
    thing = "signing key"
    serializer_class = SigningKeySerializer
    pagination_class = None
    takes = {"prepare": None, "rotate": None}
    gives = {"retrieve": SigningKeyDetailSerializer}

    def get_queryset(self) -> QuerySet[SigningKey]:
        """Return the tenant's keys in the order of the key set."""
        return SigningKey.objects.in_order().defer("public_jwk", "sealed_private_key")

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Answer with all of them."""
        return Response(
            [_shown(key) for key in self.get_queryset().defer("public_jwk", "sealed_private_key")]
        )

    def retrieve(self, request: Request, *_: Any, **__: Any) -> Response:
        """Answer with one, and what it signed that is still good."""
        key = self.get_object()
        used = usage.of(key)
        is_previous = key.status == SigningKey.Status.PREVIOUS
        return Response(
            {
                **_shown(key),
                "unexpired_tokens": used.unexpired_tokens,
                # The active key signs on: no moment is safe.
                "safe_to_delete_at": used.last_expires_at if is_previous else None,
            }
        )

    def destroy(self, request: Request, *_: Any, **__: Any) -> Response:
        """Delete a key that is not active."""
        key = self.get_object()
        if expected_versions(request, key.pk) is not None:
            raise Stale  # a key has no versions, so that no tag can be its own
        services.remove(key)
        return Response(None)

    @action(methods=["post"], detail=False)
    def prepare(self, request: Request) -> Response:
        """Publish the next key before its first use.

        It is the key that the next rotation makes active. Called again, the one that waits is answered.
        """
        return Response(_shown(services.prepare()))

    @action(methods=["post"], detail=False)
    def rotate(self, request: Request) -> Response:
        """Make the next key active, or a new one where none was prepared.

        The key that was active so far verifies what it signed until it is deleted.
        """
        return Response(_shown(services.rotate()))


def _shown(key: SigningKey) -> Row:
    return {name: getattr(key, name) for name in _SHOWN}
