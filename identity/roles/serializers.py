"""Serializers of system roles."""

from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Description, Name
from identity.rest.serializers import Record
from identity.roles.models import Role


class RoleSerializer(Record):
    """A system role."""

    name = Name()
    description = Description()
    type = Choice(choices=Role.Type.choices)

    create_only = ("type",)
    unique = {"name": lambda name: Role.objects.filter(name=name)}


class RoleScopeSerializer(serializers.Serializer[None]):
    """A scope of a role."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField()
    resource_id = serializers.UUIDField()
    resource_name = serializers.CharField()


class RoleUserSerializer(serializers.Serializer[None]):
    """A user of a role."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    name = serializers.CharField()
    email = serializers.CharField()
    avatar = serializers.CharField(allow_null=True)
