"""Serializers of applications."""

from typing import Any, ClassVar

from rest_framework import serializers

from identity.rest.fields import Description, Flag, Line, Name
from identity.rest.serializers import Record
from oidc.applications.models import Application


class MetadataSerializer(serializers.Serializer[Any]):
    """OAuth settings of an application. A PATCH leaves omitted members as they are."""

    redirect_uris = serializers.ListField(child=Line(max_length=2048), required=False, max_length=100)
    grant_types = serializers.ListField(child=Line(max_length=64), required=False, max_length=3)
    post_logout_redirect_uris = serializers.ListField(
        child=Line(max_length=2048), required=False, max_length=100
    )
    require_pkce = Flag(required=False)


class ApplicationSerializer(Record):
    """An application."""

    name = Name()
    type = serializers.ChoiceField(choices=Application.Type.choices)
    description = Description()
    client_id = serializers.CharField(read_only=True)
    oidc_client_metadata = MetadataSerializer(required=False)
    is_third_party = Flag(required=False)

    create_only: ClassVar[tuple[str, ...]] = ("type",)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata as columns of the application."""
        checked = super().validate(attrs)
        metadata = checked.pop("oidc_client_metadata", {})
        return {**checked, **metadata}


class SecretSerializer(serializers.Serializer[Any]):
    """The credentials of an application, shown once."""

    client_id = serializers.CharField()
    client_secret = serializers.CharField()


class RegisteredApplicationSerializer(ApplicationSerializer):
    """An application with its secret, which only this response contains."""

    client_secret = serializers.CharField(read_only=True)


class OrganizationApplicationSerializer(serializers.Serializer[Any]):
    """An application in the list of its organization."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField()
    client_id = serializers.CharField()
