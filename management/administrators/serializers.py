"""Serializers of administrators."""

from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Text, Timestamp
from identity.rest.serializers import Record
from identity.tenants.models import Tenant
from identity.users import identifiers
from identity.users.serializers import Password
from management.administrators import password_rules
from management.administrators.models import Administrator, Role
from management.administrators.services import find_tenants


class AdministratorSignInSerializer(serializers.Serializer[None]):
    """The credentials of an administrator."""

    username = Text(max_length=128)
    password = Text(max_length=256, trim_whitespace=False)
    code = Line(
        max_length=64,
        required=False,
        allow_blank=True,
        help_text="A code of the authenticator or a recovery code, if the administrator has a second step",
    )


class AdministratorTokenSerializer(serializers.Serializer[None]):
    """A token, and its lifetime in seconds."""

    access_token = serializers.CharField()
    expires_in = serializers.IntegerField()


class AdministratorSerializer(serializers.ModelSerializer[Administrator]):
    """An administrator, with the slugs of the administrator's tenants."""

    tenants: serializers.SlugRelatedField[Tenant] = serializers.SlugRelatedField(
        "slug", many=True, read_only=True
    )
    created_at = Timestamp(read_only=True)
    updated_at = Timestamp(read_only=True)

    class Meta:
        model = Administrator
        fields = ("id", "username", "email", "phone", "is_superuser", "tenants", "created_at", "updated_at")


class AdministratorWriteSerializer(Record):
    """An administrator as superusers create and change one; ``tenants`` are slugs."""

    id = serializers.IntegerField(read_only=True)  # type: ignore[assignment]
    username = Line(max_length=128)
    password = Password()
    email = Line(max_length=254, required=False, allow_blank=True)
    phone = Line(max_length=64, required=False, allow_blank=True)
    is_superuser = Flag(required=False)
    role = Choice(choices=Role.choices, required=False)
    tenants = serializers.ListField(child=Line(max_length=63), required=False, max_length=10_000)
    current_password = Password(
        required=False,
        help_text="Your own password. Required to create an administrator, to set a password, or to change "
        "`role`, `is_superuser` or `tenants`, unless you signed in recently",
    )
    current_code = Line(
        required=False,
        write_only=True,
        max_length=64,
        help_text="The code of your own authenticator, if you have one",
    )

    create_only = ("username",)
    rules = {
        "username": identifiers.clean_username,
        "password": password_rules.clean,
        "email": identifiers.clean_email,
        "phone": identifiers.clean_phone,
        "tenants": find_tenants,
    }
    unique = {"username": lambda name: Administrator.objects.filter(username_key=identifiers.fold(name))}


class InvitationSerializer(Record):
    """An invitation; ``tenants`` are slugs."""

    email = Line(max_length=254)
    is_superuser = Flag(required=False)
    role = Choice(choices=Role.choices, required=False)
    tenants = serializers.ListField(child=Line(max_length=63), required=False, max_length=10_000)
    invited_by = serializers.CharField(read_only=True)
    is_mailed = serializers.BooleanField(read_only=True)
    expires_at = Timestamp(read_only=True)
    current_password = Password(
        required=False, help_text="Your own password. Required unless you signed in recently"
    )
    current_code = Line(
        required=False,
        write_only=True,
        max_length=64,
        help_text="The code of your own authenticator, if you have one",
    )

    rules = {"email": identifiers.clean_email, "tenants": find_tenants}


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation with its link."""

    link = serializers.CharField(
        allow_null=True,
        read_only=True,
        help_text="The link to send to the invited person. Null if it was sent by mail",
    )
