"""Serializers of grants."""

from typing import Any

from rest_framework import serializers

from identity.rest.fields import Timestamp


class GrantSerializer(serializers.Serializer[Any]):
    """A refresh token of an application. ``ip`` and ``user_agent`` are those of the sign-in."""

    id = serializers.UUIDField()
    application_id = serializers.UUIDField()
    created_at = Timestamp()
    last_used_at = Timestamp()
    ip = serializers.CharField()
    user_agent = serializers.CharField()
