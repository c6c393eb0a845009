"""What the interaction API takes and shows."""

from typing import Any

from rest_framework import serializers

from interaction.experience.serializers import ExperienceSerializer


class SignInSerializer(serializers.Serializer[None]):
    """Identifier and password, for the request that waits."""

    identifier = serializers.CharField(max_length=254)
    password = serializers.CharField(max_length=256, trim_whitespace=False)
    interaction = serializers.CharField(max_length=36, required=False, default="")


class NextSerializer(serializers.Serializer[None]):
    """Where the browser goes next."""

    redirect_to = serializers.CharField()


class SocialConnectorSerializer(serializers.Serializer[Any]):
    """A button that leads to another provider."""

    connector_id = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()


class OfferedExperienceSerializer(ExperienceSerializer):
    """The experience as a front end needs it to draw its pages."""

    id = None  # type: ignore[assignment]  # the interface shows no such field
    updated_at = None  # type: ignore[assignment]  # as id
    social_sign_in = None  # type: ignore[assignment]  # what a front end need not know
    social_connectors = SocialConnectorSerializer(many=True, default=[])
