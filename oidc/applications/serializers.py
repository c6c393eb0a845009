"""Serializers of applications."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from rest_framework import serializers

from identity.core.errors import FieldError
from identity.resources.custom_claims import CustomClaims, CustomClaimSerializer
from identity.rest.branding import OwnBrandingSerializer
from identity.rest.choices import Choice
from identity.rest.fields import (
    Description,
    Flag,
    FutureTime,
    Ids,
    Line,
    Name,
    SigningAlgorithm,
    Timestamp,
    WholeNumber,
)
from identity.rest.serializers import Record
from oidc.applications import metadata_errors
from oidc.applications.client_metadata import ClientMetadataSerializer
from oidc.applications.models import Application
from oidc.settings.serializers import AcrValue, Lifetime, UniqueList

_LONGEST_MAX_AGE: Final = 2_147_483_647  # seconds, the largest number of the column


class MetadataSerializer(ClientMetadataSerializer):
    """OAuth settings of an application. A PATCH leaves omitted members as they are."""

    redirect_uris = serializers.ListField(child=Line(max_length=2048), required=False, max_length=100)
    grant_types = serializers.ListField(child=Line(max_length=64), required=False, max_length=3)
    post_logout_redirect_uris = serializers.ListField(
        child=Line(max_length=2048), required=False, max_length=100
    )
    require_pkce = Flag(required=False)
    id_token_signed_response_alg = SigningAlgorithm(
        help_text="The algorithm of ID tokens. Empty: the tenant's default algorithm"
    )
    userinfo_signed_response_alg = SigningAlgorithm(
        help_text="The algorithm of userinfo, which is then a JWT. Empty: userinfo is JSON and not signed"
    )
    refresh_token_idle_seconds = Lifetime(
        "REFRESH_TOKEN_IDLE_SECONDS",
        help_text="A refresh token expires after this time without use. The smallest value of installation, "
        "tenant and application holds. `null`: as the tenant",
    )
    refresh_token_absolute_seconds = Lifetime(
        "REFRESH_TOKEN_ABSOLUTE_SECONDS",
        help_text="Refreshing ends this long after the sign-in. The smallest value of installation, tenant "
        "and application holds. `null`: as the tenant",
    )
    default_max_age = WholeNumber(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=_LONGEST_MAX_AGE,
        help_text="The `max_age`, in seconds, of authorization requests that have none. `0`: users sign in "
        "for each request. `null`: the sign-in may have any age",
    )
    required_acr = AcrValue(
        required=False,
        allow_blank=True,
        help_text="The value of `acr` that every sign-in to the application must have. Empty: none",
    )
    default_acr_values = UniqueList(
        child=AcrValue(),
        required=False,
        max_length=20,
        help_text="The `acr_values` of authorization requests that have none: a wish, not a demand",
    )
    custom_claims = CustomClaims(child=CustomClaimSerializer())
    allowed_role_ids = Ids(required=False, max_length=1_000)
    allowed_organization_ids = Ids(required=False, max_length=1_000)


# The members of ``oidc_client_metadata``. Each is a column of the application.
METADATA: Final[tuple[str, ...]] = tuple(MetadataSerializer().fields)


class ApplicationSerializer(Record):
    """An application."""

    name = Name()
    type = Choice(choices=Application.Type.choices)
    description = Description()
    client_id = serializers.CharField(read_only=True)
    oidc_client_metadata = MetadataSerializer(required=False)
    is_third_party = Flag(required=False)
    branding = OwnBrandingSerializer(required=False)

    create_only: ClassVar[tuple[str, ...]] = ("type",)

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the errors of metadata that the application's type does not allow."""
        yield from super().find_conflicts(values)
        application_type = getattr(self.instance, "type", None) or values.get("type")
        if application_type:
            for error in metadata_errors.find(values.get("oidc_client_metadata", {}), application_type):
                yield replace(error, field=f"oidc_client_metadata.{error.field}")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata as columns of the application."""
        checked = super().validate(attrs)
        metadata = checked.pop("oidc_client_metadata", {})
        return {**checked, **metadata}


class SecretSerializer(serializers.Serializer[Any]):
    """The credentials of an application, shown once."""

    client_id = serializers.CharField()
    client_secret = serializers.CharField()


class NewSecretSerializer(serializers.Serializer[Any]):
    """A further secret: its name, and when it expires."""

    name = Line(required=False, allow_blank=True)
    expires_at = FutureTime()


class ApplicationSecretSerializer(serializers.Serializer[Any]):
    """A secret of an application, without its value."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = Timestamp()
    expires_at = Timestamp(allow_null=True)


class CreatedSecretSerializer(ApplicationSecretSerializer):
    """A secret of an application, with its value, which only this response contains."""

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
