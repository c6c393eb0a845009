"""Serializers of the session context."""

from rest_framework import serializers


class QuerySerializer(serializers.Serializer[None]):
    """The query parameters of the session context."""

    organization_id = serializers.CharField(required=False, default=None, max_length=64)


class ContextTenantSerializer(serializers.Serializer[None]):
    """The tenant."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()


class ContextUserSerializer(serializers.Serializer[None]):
    """The user of the token. ``updated_at`` is Unix time in seconds.

    A third-party application sees what the scopes of its token release; the rest is empty or null.
    """

    id = serializers.UUIDField()
    username = serializers.CharField()
    name = serializers.CharField()
    email = serializers.CharField()
    phone_number = serializers.CharField()
    avatar = serializers.CharField(allow_null=True)
    updated_at = serializers.IntegerField(allow_null=True)


class ContextApplicationSerializer(serializers.Serializer[None]):
    """The application that the token was issued to."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    type = serializers.CharField()
    tenant_id = serializers.CharField()


class ContextOrganizationSerializer(serializers.Serializer[None]):
    """An organization of which the user is a member.

    ``is_mfa_satisfied`` is there if the organization requires two factors: whether it accepts the sign-in.
    """

    id = serializers.UUIDField()
    name = serializers.CharField()
    logo_url = serializers.CharField()
    is_mfa_satisfied = serializers.BooleanField(required=False)


class CurrentOrganizationSerializer(ContextOrganizationSerializer):
    """The organization of the context."""

    is_member = serializers.BooleanField()
    is_admin = serializers.BooleanField()
    roles = serializers.ListField(child=serializers.CharField())


class ContextSessionSerializer(serializers.Serializer[None]):
    """The claims of the token, and the current organization."""

    subject = serializers.CharField()
    client_id = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    current_organization_id = serializers.UUIDField(allow_null=True)


class ContextSerializer(serializers.Serializer[None]):
    """The current user, application and organizations of an access token."""

    tenant = ContextTenantSerializer()
    user = ContextUserSerializer()
    application = ContextApplicationSerializer()
    organization = CurrentOrganizationSerializer(allow_null=True)
    organizations = ContextOrganizationSerializer(many=True)
    session = ContextSessionSerializer()
