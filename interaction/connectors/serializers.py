"""Requests and responses of the connector API."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from rest_framework import serializers

from identity.core.errors import FieldError
from identity.rest.choices import Choice
from identity.rest.fields import Flag, JSONObject, Line, Name
from identity.rest.serializers import Record
from interaction.connectors import field_rules
from interaction.connectors.models import Connector


class ConnectorSerializer(Record):
    """A connector. Secrets in ``config`` are returned as ``***``; send ``***`` to keep a secret."""

    connector_id = Name()
    type = Choice(choices=Connector.Type.choices)
    enabled = Flag(required=False)
    config = JSONObject()
    has_own_callback = Flag(
        required=False,
        help_text="Whether this connector has a redirect URI of its own. Always true for new connectors. "
        "Set it to true to move an older connector away from the shared redirect URI",
    )
    redirect_uri = serializers.CharField(
        read_only=True,
        help_text="The redirect URI to register with a social provider; empty for other types",
    )

    create_only = ("connector_id", "type")

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the errors of fields that contradict the provider or the stored connector."""
        yield from super().find_conflicts(values)
        stored = cast("Connector | None", self.instance)
        yield from field_rules.find_errors(stored, values)


class ConnectorTestSerializer(serializers.Serializer[Any]):
    """The recipient of a test; by default the caller's own address."""

    to = Line(required=False, allow_blank=True)


class ConnectorTestedSerializer(serializers.Serializer[Any]):
    """The result of a test that succeeded."""

    result = serializers.CharField()
    message = serializers.CharField()


class ConfigFieldSerializer(serializers.Serializer[Any]):
    """One member of a provider's configuration."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=["string", "integer", "boolean"])
    required = serializers.BooleanField()  # type: ignore[assignment]  # a member
    secret = serializers.BooleanField()
    multiline = serializers.BooleanField()
    description = serializers.CharField()
    default = serializers.JSONField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())


class ConnectorFactorySerializer(serializers.Serializer[Any]):
    """A provider and the fields of its configuration."""

    connector_id = serializers.CharField()
    type = serializers.ChoiceField(choices=Connector.Type.choices)
    name = serializers.CharField()
    config_schema = ConfigFieldSerializer(many=True)
