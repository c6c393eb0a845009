"""Serializers of the members API."""

from typing import Any, ClassVar

from rest_framework import serializers

from identity.rest.fields import FlagText, Line, Timestamp
from identity.users import addresses, identifiers


class EnrolSerializer(serializers.Serializer[Any]):
    """The phone number of the user to add, and the name and email of a new user."""

    phone = Line(max_length=64)
    name = Line(required=False, allow_blank=True, default="")
    email = Line(max_length=254, required=False, allow_blank=True, default="")

    rules: ClassVar = {"phone": identifiers.clean_phone, "email": addresses.check_email}


class MemberRoleSerializer(serializers.Serializer[Any]):
    """A role that a member has in the organization."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField()
    type = serializers.CharField()
    created_at = Timestamp()


class FilterSerializer(serializers.Serializer[Any]):
    """The filters of the list of members."""

    phone = Line(max_length=64, required=False)
    name = Line(required=False, help_text="Only members whose name contains this text, ignoring case")
    is_admin = FlagText(required=False)


class OrganizationMemberSerializer(serializers.Serializer[Any]):
    """A member of the organization."""

    id = serializers.UUIDField()
    username = serializers.CharField(allow_null=True)
    primary_phone = serializers.CharField(allow_null=True)
    primary_email = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    is_admin = serializers.BooleanField()
    joined_at = Timestamp()
    created_at = Timestamp()
