"""/signing-keys."""

from typing import Any, Final

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from identity.core.algorithms import Algorithm
from identity.core.records import Stale
from identity.rest.choices import Choice
from identity.rest.etags import expected_versions
from identity.rest.fields import SigningAlgorithm, Timestamp
from identity.rest.viewsets import Row, TenantViewSet
from oidc.keys import retirement, services, usage
from oidc.keys.models import SigningKey

_DATES: Final = ("created_at", "published_at", "activated_at", "retired_at")
_SHOWN: Final = ("id", "status", "algorithm", "is_default", *_DATES)


class SigningKeySerializer(serializers.Serializer[None]):
    """A signing key, without its key material."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SigningKey.Status.choices)
    algorithm = serializers.ChoiceField(choices=Algorithm.choices)
    is_default = serializers.BooleanField()
    created_at = Timestamp()
    published_at = Timestamp()
    activated_at = Timestamp(allow_null=True)
    retired_at = Timestamp(allow_null=True)


class SigningKeyDetailSerializer(SigningKeySerializer):
    """A signing key, when its last token expires, and when it is safe to delete."""

    last_token_expires_at = Timestamp(allow_null=True)
    safe_to_delete_at = Timestamp(allow_null=True)


class AlgorithmSerializer(serializers.Serializer[None]):
    """The algorithm of a key to prepare or rotate."""

    algorithm = SigningAlgorithm(help_text="Default: the tenant's default algorithm")


class RetiredAlgorithmSerializer(serializers.Serializer[None]):
    """The algorithm to retire."""

    algorithm = Choice(choices=Algorithm.choices)


class SigningKeyViewSet(TenantViewSet):
    """Signing keys: the active keys, the next keys and previous keys."""

    model = SigningKey
    resource_name = "signing key"
    serializer_class = SigningKeySerializer
    pagination_class = None
    request_serializers = {
        "prepare": AlgorithmSerializer,
        "rotate": AlgorithmSerializer,
        "retire": RetiredAlgorithmSerializer,
    }
    optional_bodies = frozenset({"prepare", "rotate"})
    response_serializers = {"retrieve": SigningKeyDetailSerializer}

    def get_queryset(self) -> QuerySet[SigningKey]:
        """Return the tenant's keys in the order of the key set."""
        return SigningKey.objects.in_order().defer("public_jwk", "sealed_private_key")

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return all keys."""
        return Response([_to_row(key) for key in self.get_queryset()])

    def retrieve(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return a key and when the last token that it signed expires."""
        key = self.get_object()
        last = usage.get_last_expiry(key)
        is_previous = key.status == SigningKey.Status.PREVIOUS
        return Response(
            {
                **_to_row(key),
                "last_token_expires_at": last,
                # The active key goes on signing, so it is never safe to delete.
                "safe_to_delete_at": last if is_previous else None,
            }
        )

    def destroy(self, request: Request, *_: Any, **__: Any) -> Response:
        """Delete a key that is not active."""
        key = self.get_object()
        if expected_versions(request, key.pk) is not None:
            raise Stale  # a key has no versions, so no tag can match
        services.remove(key)
        return Response(None)

    def prepare(self, request: Request) -> Response:
        """Publish the next key of an algorithm.

        The next rotation makes this key active. A second call returns the same key.
        """
        return Response(_to_row(services.prepare(_get_algorithm(request))))

    def rotate(self, request: Request) -> Response:
        """Rotate the keys of an algorithm: activate the next key, or a new one if none was published.

        Tokens that the previous key signed stay valid until it is deleted. An algorithm without a key gets
        its first one.
        """
        return Response(_to_row(services.rotate(_get_algorithm(request))))

    def retire(self, request: Request) -> Response:
        """Retire an algorithm: its active key becomes previous, and no key takes its place.

        No application, API resource or setting may name the algorithm. Tokens that the key signed stay valid
        until it is deleted. The next key is deleted at once.
        """
        return Response(_to_row(retirement.retire(_get_algorithm(request, RetiredAlgorithmSerializer))))


def _get_algorithm(
    request: Request, serializer_class: type[serializers.Serializer[None]] = AlgorithmSerializer
) -> str:
    """Return the algorithm that the body names, or an empty string."""
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    algorithm: str = serializer.validated_data.get("algorithm", "")
    return algorithm


def _to_row(key: SigningKey) -> Row:
    is_default = key.is_default and key.status == SigningKey.Status.ACTIVE
    return {name: getattr(key, name) for name in _SHOWN} | {"is_default": is_default}
