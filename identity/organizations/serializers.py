"""Serializers of organizations, members and templates."""

from django.utils.translation import gettext_noop
from rest_framework import serializers

from identity.factors.levels import Level
from identity.organizations.models import OrganizationPermission, OrganizationRole
from identity.resources.serializers import ScopeName
from identity.rest.branding import OwnBrandingSerializer
from identity.rest.choices import Choice
from identity.rest.fields import Description, Flag, JSONObject, Name, Timestamp, Url
from identity.rest.serializers import Record
from identity.tenants import services as tenants


class OrganizationSerializer(Record):
    """An organization. A PATCH replaces its whole metadata."""

    name = Name()
    description = Description()
    logo_url = Url()
    metadata = JSONObject(required=False)
    branding = OwnBrandingSerializer(required=False)
    is_mfa_required = Flag(
        required=False,
        help_text="Whether users get a token of the organization only after a sign-in with two factors",
    )
    member_count = serializers.IntegerField(read_only=True)

    def validate_is_mfa_required(self, is_required: bool) -> bool:  # noqa: FBT001 - the framework's signature
        """Check that the users of the tenant can have two factors, if this is new."""
        was_required = self.instance is not None and self.instance.is_mfa_required
        if is_required and not was_required and tenants.get_highest_level() < Level.TWO:
            raise serializers.ValidationError(
                gettext_noop("needs a second factor: switch one on in the sign-in experience first"),
                code="conflict",
            )
        return is_required


class BriefOrganizationSerializer(serializers.Serializer[None]):
    """An organization in the list of a user's organizations."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField()
    member_count = serializers.IntegerField()
    created_at = Timestamp()


class MemberSerializer(serializers.Serializer[None]):
    """A member of an organization."""

    id = serializers.UUIDField(read_only=True)
    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    email = serializers.CharField(read_only=True)
    avatar = serializers.CharField(read_only=True, allow_null=True)
    joined_at = Timestamp(read_only=True)
    is_admin = Flag()


class OrganizationRoleSerializer(Record):
    """An organization role."""

    name = Name()
    description = Description()
    type = Choice(choices=OrganizationRole.Type.choices, required=False)

    create_only = ("type",)
    unique = {"name": lambda name: OrganizationRole.objects.filter(name=name)}


class OrganizationPermissionSerializer(Record):
    """An organization permission, whose name is a scope in tokens."""

    name = ScopeName()
    description = Description()
    updated_at = None  # type: ignore[assignment]  # the interface shows no such field

    unique = {"name": lambda name: OrganizationPermission.objects.filter(name=name)}


class NamedSerializer(serializers.Serializer[None]):
    """The id, name and description of a record."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField()
