"""The interfaces of providers of messages, CAPTCHAs and social sign-in.

A new provider needs one module, with a class that implements an interface, and one line in ``registry``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from interaction.connectors.messages import Message
from interaction.connectors.models import Connector

Type = Connector.Type
Config = Mapping[str, Any]
Rule = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One member of a provider's configuration.

    ``destination`` marks a field that decides where secrets are sent. When it changes, the secrets have to be
    entered again. ``rule`` returns the problem of a value, or None.
    """

    name: str
    description: str
    type: Literal["string", "integer", "boolean"] = "string"
    required: bool = True
    secret: bool = False
    destination: bool = False
    default: str | int | bool = ""
    choices: tuple[str, ...] = ()
    rule: Rule | None = None

    def schema(self) -> dict[str, Any]:
        """Return the description of the field in the API, from which a front end can render an input."""
        return {
            "name": self.name,
            "type": self.type,
            "required": self.required,
            "secret": self.secret,
            "description": self.description,
            "default": None if self.required else self.default,
            "choices": list(self.choices),
        }


class Provider(Protocol):
    """The members of every provider."""

    connector_id: str
    name: str
    type: Connector.Type
    fields: tuple[Field, ...]


@runtime_checkable
class Sender(Provider, Protocol):
    """A provider that sends messages.

    A sender with ``only_codes = True`` sends only codes, in a text that the provider has approved.
    """

    def send(self, config: Config, message: Message) -> None:
        """Send a message.

        Raises:
            ProviderError: the provider did not accept the message.

        """


@dataclass(frozen=True, slots=True)
class Widget:
    """A CAPTCHA on a page: its script, the class of its element, and the hosts that they connect to."""

    script: str
    css_class: str
    sources: tuple[str, ...]


@runtime_checkable
class CaptchaProvider(Provider, Protocol):
    """A provider of CAPTCHAs."""

    widget: Widget

    def is_solved(self, config: Config, token: str, address: str) -> bool:
        """Return whether a token proves a solved CAPTCHA and was not used before.

        Raises:
            ProviderError: the provider does not respond, or does not accept the secret key.

        """

    def test_secret(self, config: Config) -> None:
        """Check that the provider accepts the secret key.

        Raises:
            ProviderError: the provider does not accept the secret key.

        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The endpoints of a social provider. A provider with an ``issuer`` is an OpenID provider.

    ``{tenantid}`` in an issuer stands for the claim ``tid`` of the ID token. ``sends_iss`` is true if
    authorization responses contain ``iss`` (RFC 9207).
    """

    authorization: str
    token: str
    userinfo: str = ""
    issuer: str = ""
    jwks: str = ""
    basic_auth: bool = False
    sends_iss: bool = False


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """The result of a code exchange: an access token, and the claims of a validated ID token."""

    access_token: str
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The person who signed in at a provider.

    ``provider`` and ``subject`` together identify one account permanently, independent of the
    connector's configuration. ``email_verified`` is true only if the provider asserts it.
    """

    provider: str
    subject: str
    name: str = ""
    email: str = ""
    email_verified: bool = False
    avatar: str = ""


@runtime_checkable
class SocialProvider(Provider, Protocol):
    """A provider of social sign-in.

    ``can_reauthenticate`` is true if the provider supports ``max_age`` and ``prompt=login``.
    """

    can_reauthenticate: bool

    def endpoints(self, config: Config) -> Endpoints:
        """Return the endpoints, which depend only on fields with ``destination``.

        Raises:
            ProviderError: the endpoints cannot be discovered.

        """

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check that the provider accepts the client credentials.

        Raises:
            ProviderError: the provider does not accept them.

        """

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile of the person who signed in.

        Raises:
            ProviderError: the provider does not return the profile.

        """
