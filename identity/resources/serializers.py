"""Serializers of API resources and scopes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop
from rest_framework import serializers

from database import ids
from identity.core import tenancy
from identity.core.errors import FieldError
from identity.resources.custom_claims import ApiClaimSerializer, CustomClaims
from identity.resources.models import MAX_TTL, Resource, Scope
from identity.resources.services import UNKNOWN_ACR
from identity.rest.choices import Choice
from identity.rest.fields import Description, Flag, Line, Name, SigningAlgorithm, WholeNumber
from identity.rest.serializers import Record
from identity.tenants import services as tenants

_ORGANIZATION_PREFIX: Final = "urn:service:organization:"
_MIN_TTL: Final = 60
ROLE_CLAIMS: Final = ("roles", "groups")


class Indicator(Line):
    """An absolute URI without a fragment (RFC 8707 section 2), in ASCII (RFC 3986 section 2)."""

    pattern = r'^[A-Za-z0-9][A-Za-z0-9+.-]*:[!"$-~]+$'

    def to_internal_value(self, data: Any) -> str:
        """Return a valid indicator. The one that the resource has was valid in an earlier release."""
        uri = super().to_internal_value(data)
        resource = getattr(self.parent, "instance", None)
        if resource is not None and uri == resource.indicator:
            return uri
        if not uri.isascii():
            raise serializers.ValidationError(gettext_noop("must be plain ASCII"))
        scheme, colon, rest = uri.partition(":")
        if not colon or not rest or not scheme.replace("+", "").replace("-", "").replace(".", "").isalnum():
            raise serializers.ValidationError(gettext_noop("must be an absolute URI"))
        if "#" in uri or any(c.isspace() for c in uri):
            raise serializers.ValidationError(
                gettext_noop("must be an absolute URI without a fragment or white space")
            )
        if uri == tenancy.active().issuer or uri.startswith(_ORGANIZATION_PREFIX):
            # RFC 9068 section 5 requires a distinct audience for each resource, and the issuer is one too.
            raise serializers.ValidationError(gettext_noop("is reserved for this service"))
        return uri


class ResourceSerializer(Record):
    """An API resource."""

    name = Name()
    indicator = Indicator(max_length=2048)
    access_token_ttl = WholeNumber(required=False, min_value=_MIN_TTL, max_value=MAX_TTL)
    is_default = Flag(required=False)
    access_token_signing_alg = SigningAlgorithm(
        help_text="The algorithm of its access tokens. Empty: the tenant's default algorithm"
    )
    claims = serializers.ListField(child=Choice(choices=ROLE_CLAIMS), required=False, max_length=20)
    custom_claims = CustomClaims(child=ApiClaimSerializer())
    required_acr = Line(
        required=False,
        allow_blank=True,
        help_text="The value of `acr` that users need for its access tokens: that of a level, or an alias of "
        "the tenant. Empty: none",
    )
    scope_count = serializers.IntegerField(read_only=True)

    create_only = ("indicator",)
    unique = {"indicator": lambda indicator: Resource.objects.filter(indicator=indicator)}

    def validate_claims(self, names: list[str]) -> list[str]:
        """Return the names, each once."""
        return list(dict.fromkeys(names))

    def validate_required_acr(self, value: str) -> str:
        """Check a new value: the tenant knows it, and its users can reach it."""
        if not value or (self.instance is not None and value == self.instance.required_acr):
            return value
        levels: dict[str, int] = import_string(settings.ACR_LEVELS)()
        if value not in levels:
            raise serializers.ValidationError(UNKNOWN_ACR, code="unknown")
        if levels[value] > tenants.get_highest_level():
            raise serializers.ValidationError(
                gettext_noop("cannot be reached with the second factors of the sign-in experience"),
                code="conflict",
            )
        return value


class ScopeName(Name):
    """A scope token (RFC 6749 section 3.3): printable ASCII without space, quote and backslash."""

    pattern = r"^[!#-\[\]-~]+$"

    def to_internal_value(self, data: Any) -> str:
        """Return a valid name."""
        name = super().to_internal_value(data)
        if not all("!" <= c <= "~" and c not in '"\\' for c in name):
            raise serializers.ValidationError(
                gettext_noop("must be printable ASCII without space, quote, backslash")
            )
        return name


class ScopeSerializer(Record):
    """A scope of an API resource."""

    name = ScopeName()
    description = Description()
    resource_id = serializers.UUIDField(read_only=True)
    updated_at = None  # type: ignore[assignment]  # the interface shows no such field

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the error of a name that another scope of the API resource in the path has."""
        resource_id = ids.parse(self.context["view"].kwargs["resource_pk"])
        if "name" in values and Scope.objects.filter(resource=resource_id, name=values["name"]).exists():
            yield FieldError("name", "already exists", "not_unique")


class BriefScopeSerializer(serializers.Serializer[None]):
    """A scope of a role template."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField()
    resource_id = serializers.UUIDField()
