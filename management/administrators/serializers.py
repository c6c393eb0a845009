"""Administrators as the API shows them."""

from rest_framework import serializers

from identity.rest.fields import Flag, Line, Text, Timestamp
from identity.rest.serializers import Record
from identity.tenants.models import Tenant
from identity.users.serializers import Password
from management.administrators.models import Administrator, Role


class AdministratorSignInSerializer(serializers.Serializer[None]):
    """What an administrator signs in with."""

    username = Text(max_length=128)
    password = Text(max_length=256, trim_whitespace=False)
    code = Line(
        max_length=64,
        required=False,
        allow_blank=True,
        help_text="Of the authenticator, or a recovery code: from administrators with a second step",
    )


class AdministratorTokenSerializer(serializers.Serializer[None]):
    """A token and how many seconds it lives."""

    access_token = serializers.CharField()
    expires_in = serializers.IntegerField()


class AdministratorSerializer(serializers.ModelSerializer[Administrator]):
    """An administrator, with the slugs of the tenants that are managed."""

    tenants: serializers.SlugRelatedField[Tenant] = serializers.SlugRelatedField(
        "slug", many=True, read_only=True
    )
    created_at = Timestamp(read_only=True)
    updated_at = Timestamp(read_only=True)

    class Meta:
        model = Administrator
        fields = ("id", "username", "email", "phone", "is_superuser", "tenants", "created_at", "updated_at")


class AdministratorWriteSerializer(Record):
    """An administrator as superusers write one; ``tenants`` are slugs."""

    id = serializers.IntegerField(read_only=True)  # type: ignore[assignment]
    username = Line(max_length=128)
    password = Password()
    email = Line(max_length=254, required=False, allow_blank=True)
    phone = Line(max_length=64, required=False, allow_blank=True)
    is_superuser = Flag(required=False)
    role = serializers.ChoiceField(choices=Role.choices, required=False)
    tenants = serializers.ListField(child=Line(max_length=63), required=False, max_length=10_000)
    current_password = Password(
        required=False,
        help_text="Your own: needed to make an administrator, and with a new password or another standing, "
        "unless you have just signed in",
    )
    current_code = Line(
        required=False,
        write_only=True,
        max_length=64,
        help_text="Of your own authenticator, where you have one",
    )

    create_only = ("username",)
