"""The settings of OpenID Connect in the management API."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop
from rest_framework import serializers

from identity.core.algorithms import Algorithm
from identity.core.errors import FieldError
from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, WholeNumber
from oidc.settings import services
from oidc.settings.models import OidcSettings

_HOST: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
_SCOPE: Final = r"[\u0021\u0023-\u005b\u005d-\u007e]+"  # RFC 6749 section 3.3
_LEVELS: Final = ("urn:service:acr:1fa", "urn:service:acr:2fa", "phr", "phrh")
_MODES: Final = ("off", "token", "open")
_MOST_DAYS: Final = 365


class Host(Line):
    """A host name in lower case, without a port."""

    pattern = f"^{_HOST}$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 253, **options})

    def to_internal_value(self, data: Any) -> str:
        """Return the validated host name."""
        host = super().to_internal_value(data)
        if not re.fullmatch(_HOST, host):
            raise serializers.ValidationError(
                gettext_noop("must be a host name in lower case, such as app.example.com")
            )
        return host


class ScopeName(Line):
    """The name of a scope, or a value of ``acr_values``: printable ASCII without spaces."""

    pattern = f"^{_SCOPE}$"

    def to_internal_value(self, data: Any) -> str:
        """Return the validated name."""
        name = super().to_internal_value(data)
        if name and not re.fullmatch(_SCOPE, name):
            raise serializers.ValidationError(
                gettext_noop("must be printable ASCII without spaces, quotes and backslashes")
            )
        return name


class UniqueList(serializers.ListField):
    """A list without repeated items."""

    def to_internal_value(self, data: Any) -> list[Any]:
        """Return the items, each of them once."""
        return list(dict.fromkeys(super().to_internal_value(data)))


class Lifetime(WholeNumber):
    """A number of seconds, at most that of a setting of the installation. ``null`` is the setting's value."""

    def __init__(self, setting: str, **options: Any) -> None:
        message = format_lazy(
            _("must be at most {max_value}, the value of {setting}"), max_value="{max_value}", setting=setting
        )
        super().__init__(
            required=False,
            allow_null=True,
            min_value=1,
            max_value=getattr(settings, setting),
            error_messages={"max_value": message},
            **options,
        )


class AcrValue(ScopeName):
    """A value of ``acr`` that is known: that of a level, or an alias."""

    def to_internal_value(self, data: Any) -> str:
        """Return the validated value."""
        value = super().to_internal_value(data)
        if value and not services.is_acr_value(value):
            raise serializers.ValidationError(services.ACR_RULE)
        return value


class AcrAliasSerializer(serializers.Serializer[Any]):
    """Another name of an authentication level."""

    value = ScopeName(help_text="The name that applications send in `acr_values`")
    level = Choice(choices=_LEVELS)

    def validate_value(self, value: str) -> str:
        """Check that the name is not that of a level."""
        if value in _LEVELS:
            raise serializers.ValidationError(gettext_noop("is the name of a level"))
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that both members are present, in a PATCH too."""
        if missing := [name for name in self.get_fields() if name not in attrs]:
            raise serializers.ValidationError(
                dict.fromkeys(missing, gettext_noop("is required")), code="required"
            )
        return attrs


class ClientDocumentsSerializer(serializers.Serializer[Any]):
    """Client metadata documents."""

    enabled = Flag(required=False, help_text="Whether applications may be known by the URL of a document")
    hosts = UniqueList(
        child=Host(),
        required=False,
        max_length=100,
        help_text="The hosts of the documents. An empty list allows every host",
    )


class RegistrationSerializer(serializers.Serializer[Any]):
    """Dynamic registration of applications."""

    mode = Choice(
        choices=_MODES,
        required=False,
        help_text="`off`: nobody may register applications. `token`: with an initial access token. "
        "`open`: everybody",
    )
    allowed_scopes = UniqueList(
        child=ScopeName(),
        required=False,
        allow_null=True,
        max_length=100,
        help_text="The scopes that registered applications may request. `null` allows all",
    )
    redirect_hosts = UniqueList(
        child=Host(),
        required=False,
        allow_null=True,
        max_length=100,
        help_text="The hosts of their redirect URIs. `null` allows all",
    )
    default_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=_MOST_DAYS,
        help_text="A registered application is deleted this many days after its last use",
    )


class OidcSettingsSerializer(serializers.Serializer[Any]):
    """The settings of OpenID Connect. Unknown fields are ignored."""

    default_signing_alg = Choice(
        choices=Algorithm.choices,
        required=False,
        help_text="The algorithm of tokens for which neither application nor API resource names another",
    )
    acr_aliases = serializers.ListField(
        child=AcrAliasSerializer(),
        required=False,
        max_length=20,
        help_text="Other names of authentication levels. A PATCH replaces the list",
    )
    groups_claim = Choice(
        choices=OidcSettings.GroupsClaim.choices,
        required=False,
        help_text="What the claim `groups` lists: the names of the user's roles, of their organizations, or "
        "of their roles in organizations as `{organization}:{role}`",
    )
    introspection = Flag(required=False)
    device_flow = Flag(required=False)
    token_exchange = Flag(required=False)
    impersonation = Flag(required=False)
    plain_oauth = Flag(
        required=False,
        help_text="Whether authorization requests may leave out the scope `openid`. Always true while "
        "`client_id_metadata_documents` is enabled",
    )
    client_id_metadata_documents = ClientDocumentsSerializer(required=False)
    dynamic_registration = RegistrationSerializer(required=False)
    high_security = Flag(required=False)
    require_pushed_authorization_requests = Flag(required=False)
    session_idle_seconds = Lifetime(
        "SESSION_IDLE_SECONDS", help_text="A session ends after this time without use"
    )
    session_absolute_seconds = Lifetime(
        "SESSION_ABSOLUTE_SECONDS", help_text="A session ends this long after the sign-in"
    )
    refresh_token_idle_seconds = Lifetime(
        "REFRESH_TOKEN_IDLE_SECONDS", help_text="A refresh token expires after this time without use"
    )
    refresh_token_absolute_seconds = Lifetime(
        "REFRESH_TOKEN_ABSOLUTE_SECONDS", help_text="Refreshing ends this long after the sign-in"
    )
    keep_signed_in = Flag(
        required=False, help_text="Whether the sign-in page asks if the user stays signed in"
    )

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the error of plain requests that are forbidden while metadata documents need them."""
        documents = values.get("client_id_metadata_documents", {})
        if documents.get("enabled") and values.get("plain_oauth") is False:
            yield FieldError("plain_oauth", services.PLAIN_OAUTH_RULE, "conflict")

    def validate_acr_aliases(self, aliases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Check that no name is listed twice."""
        values = [alias["value"] for alias in aliases]
        if len(values) != len(set(values)):
            raise serializers.ValidationError(
                gettext_noop("a value is listed more than once"), code="repeated"
            )
        return aliases
