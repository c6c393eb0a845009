"""The API of connectors and of the built-in providers."""

from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.core import tenancy
from identity.rest.viewsets import CrudViewSet, Row
from interaction.connectors import callbacks, config_encryption, masking, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.serializers import (
    ConnectorFactorySerializer,
    ConnectorSerializer,
    ConnectorTestedSerializer,
    ConnectorTestSerializer,
)


class ConnectorViewSet(CrudViewSet):
    """Connectors."""

    model = Connector
    resource_name = "connector"
    serializer_class = ConnectorSerializer
    request_serializers = {"test": ConnectorTestSerializer}
    response_serializers = {"test": ConnectorTestedSerializer}
    columns = (
        *("id", "connector_id", "type", "enabled", "sealed_config", "has_own_callback"),
        *("created_at", "updated_at"),
    )

    def to_representation(self, row: Row) -> Row:
        """Return the row with its configuration, secrets masked, and its redirect URI."""
        config = config_encryption.decrypt(
            row.pop("sealed_config"), tenant_id=tenancy.active_id(), pk=row["id"]
        )
        row["config"] = masking.mask(registry.find(row["connector_id"]), config)
        row["redirect_uri"] = callbacks.redirect_uri(
            row["id"], type=row["type"], has_own_callback=row["has_own_callback"]
        )
        return super().to_representation(row)

    def perform_create(self, fields: Row) -> UUID:
        """Create a connector. One that decides on second factors needs ``ADMIN_PROOF_SECONDS``."""
        return services.create(**fields, is_proven=self._is_proven()).pk

    def perform_update(self, row: Connector, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a connector. One that decides on second factors needs ``ADMIN_PROOF_SECONDS``."""
        services.change(row, fields, expected=expected, is_proven=self._is_proven())

    def perform_destroy(self, row: Connector, expected: frozenset[int] | None) -> None:
        """Delete a connector. One that may send codes of second factors needs ``ADMIN_PROOF_SECONDS``."""
        services.remove(row, expected=expected, is_proven=self._is_proven())

    def _is_proven(self) -> bool:
        caller: Any = self.request.user
        return bool(caller.has_signed_in_recently)

    def test(self, request: Request, *_: Any, **__: Any) -> Response:
        """Test a connector.

        A connector for messages sends a test message. Other connectors check their credentials.
        """
        connector = self.get_object()
        serializer = ConnectorTestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        to = serializer.validated_data.get("to") or _own_address(request.user, connector)
        return Response({"result": "ok", "message": services.test(connector, to=to)})


class ConnectorFactories(APIView):
    """The built-in providers and the fields of their configurations."""

    response_serializers = {"get": ConnectorFactorySerializer(many=True)}

    def get(self, request: Request) -> Response:
        """List the built-in providers."""
        return Response(
            [
                {
                    "connector_id": provider.connector_id,
                    "type": provider.type.value,
                    "name": provider.name,
                    "config_schema": [field.schema() for field in provider.fields],
                }
                for provider in registry.PROVIDERS
            ]
        )


def _own_address(caller: object, connector: Connector) -> str:
    """Return the email or phone of an administrator; an empty string for an application."""
    return str(getattr(caller, "email" if connector.type == Connector.Type.EMAIL else "phone", ""))
