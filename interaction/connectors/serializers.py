"""Connectors as the API takes and shows them."""

from typing import Any

from rest_framework import serializers

from identity.rest.fields import Flag, JSONObject, Line, Name
from identity.rest.serializers import Record
from interaction.connectors.models import Connector


class ConnectorSerializer(Record):
    """A connector. Secrets in ``config`` are ``***``, which sent back keeps them."""

    connector_id = Name()
    type = serializers.ChoiceField(choices=Connector.Type.choices)
    enabled = Flag(required=False)
    config = JSONObject()
    has_own_callback = Flag(
        required=False,
        help_text="Whether the provider sends browsers back to an address of this connector's own. Always "
        "true for new connectors; true moves an older one away from the shared address",
    )
    redirect_uri = serializers.CharField(
        read_only=True, help_text="What to register with a social provider; empty for other types"
    )

    create_only = ("connector_id", "type")


class ConnectorTestSerializer(serializers.Serializer[Any]):
    """Where the test goes; the caller's own address without it."""

    to = Line(required=False, allow_blank=True)


class ConnectorTestedSerializer(serializers.Serializer[Any]):
    """That it worked."""

    result = serializers.CharField()
    message = serializers.CharField()


class ConfigFieldSerializer(serializers.Serializer[Any]):
    """One member of a provider's configuration."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=["string", "integer", "boolean"])
    required = serializers.BooleanField()  # type: ignore[assignment]  # a member
    secret = serializers.BooleanField()
    description = serializers.CharField()
    default = serializers.JSONField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())


class ConnectorFactorySerializer(serializers.Serializer[Any]):
    """A provider and the configuration it asks for."""

    connector_id = serializers.CharField()
    type = serializers.ChoiceField(choices=Connector.Type.choices)
    name = serializers.CharField()
    config_schema = ConfigFieldSerializer(many=True)
