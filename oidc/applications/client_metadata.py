"""What an application says of itself (RFC 7591 section 2, OpenID Connect Registration section 2)."""

from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers

from identity.core import tenancy
from identity.rest.fields import Line
from oidc.applications import redirect_uris
from oidc.applications.models import Application

_MAX_CONTACTS: Final = 10
_MAX_EMAIL: Final = 254  # characters (RFC 5321 section 4.5.3.1.3)
# The parameters of a login that a third party initiates (OpenID Connect Core 4).
_LOGIN_PARAMETERS: Final = frozenset(("iss", "login_hint", "target_link_uri"))


class WebAddress(Line):
    """An ``https`` URL for browsers. With ``DEBUG``, also ``http`` on a loopback host."""

    pattern: ClassVar[str] = r"^(https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+)?$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 2048, "required": False, "allow_blank": True, **options})

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        origin = redirect_uris.get_origin(url)
        is_allowed = origin is not None and (
            origin.startswith("https:") or (settings.DEVELOPMENT and redirect_uris.is_loopback(url))
        )
        if url and not is_allowed:
            raise serializers.ValidationError(gettext_noop("must be an https URL"))
        return url


class LoginAddress(WebAddress):
    """The URL at which a login can be initiated. It gets the parameters of OpenID Connect Core 4."""

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        if "#" in url:
            raise serializers.ValidationError(gettext_noop("must not have a fragment"))
        names = {name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)}
        if reserved := sorted(_LOGIN_PARAMETERS & names):
            text = gettext("must not have the parameter %(name)s") % {"name": reserved[0]}
            raise serializers.ValidationError(text)
        return url


class EmailAddress(Line):
    """An email address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": _MAX_EMAIL, **options})

    def to_internal_value(self, data: Any) -> str:
        address = super().to_internal_value(data)
        try:
            validate_email(address)
        except ValidationError:
            raise serializers.ValidationError(gettext_noop("must be an email address")) from None
        return address


class ClientMetadataSerializer(serializers.Serializer[Any]):
    """What an application says of itself."""

    client_uri = WebAddress()
    logo_uri = WebAddress()
    policy_uri = WebAddress()
    tos_uri = WebAddress()
    contacts = serializers.ListField(child=EmailAddress(), required=False, max_length=_MAX_CONTACTS)
    initiate_login_uri = LoginAddress()


FIELDS: Final[tuple[str, ...]] = tuple(ClientMetadataSerializer().fields)


def build_login_url(application: Application) -> str:
    """Return the URL at which the application begins a sign-in here, or an empty string.

    OpenID Connect Core 4: ``iss`` names the provider. The URL never says who the user is.
    """
    uri = application.initiate_login_uri
    if not uri:
        return ""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode({'iss': tenancy.active().issuer})}"
