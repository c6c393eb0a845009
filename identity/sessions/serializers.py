"""Serializers of sessions."""

from typing import Any

from rest_framework import serializers

from identity.rest.fields import Timestamp


class SessionSerializer(serializers.Serializer[Any]):
    """A session: a browser in which the user is signed in."""

    id = serializers.UUIDField()
    application_id = serializers.UUIDField(allow_null=True)
    created_at = Timestamp()
    last_used_at = Timestamp()
    ip = serializers.CharField()
    user_agent = serializers.CharField()
