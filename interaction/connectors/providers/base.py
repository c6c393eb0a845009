"""The interfaces of providers of messages, CAPTCHAs and social sign-in.

A new provider needs one module, with a class that implements an interface, and one line in ``registry``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from interaction.connectors.messages import Message
from interaction.connectors.models import Connector
from interaction.connectors.providers.guide import Guide

Type = Connector.Type
Config = Mapping[str, Any]
Rule = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One member of a provider's configuration.

    ``destination`` marks a field that decides where secrets are sent. When such a field changes, the secrets
    have to be entered again. ``description`` is marked with ``gettext_noop``. ``rule`` returns the problem of
    a value, or None. A ``multiline`` field may contain line breaks.
    """

    name: str
    description: str
    type: Literal["string", "integer", "boolean"] = "string"
    required: bool = True
    secret: bool = False
    destination: bool = False
    multiline: bool = False
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
            "multiline": self.multiline,
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
    guide: Guide


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
    authorization responses contain ``iss`` (RFC 9207), ``form_post`` if a form posts them. A provider with
    ``build_client_secret`` gets a client secret that is made for the request instead of a stored one.
    """

    authorization: str
    token: str
    userinfo: str = ""
    issuer: str = ""
    jwks: str = ""
    basic_auth: bool = False
    sends_iss: bool = False
    form_post: bool = False
    build_client_secret: Callable[[Config], str] | None = None


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """The result of a code exchange: an access token, and the claims of a validated ID token."""

    access_token: str
    claims: Mapping[str, Any]


class AccountName(NamedTuple):
    """A name of an account at a provider."""

    provider: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The person who signed in at a provider.

    ``provider`` and ``subject`` together identify one account permanently, independent of the
    connector's configuration. ``email_verified`` is true only if the provider asserts it. An account with
    an ``alias`` is looked up by the alias first.
    """

    provider: str
    subject: str
    name: str = ""
    email: str = ""
    email_verified: bool = False
    avatar: str = ""
    alias: AccountName | None = None


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

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""


@runtime_checkable
class PostingProvider(SocialProvider, Protocol):
    """A social provider that posts its answer, with members that its tokens do not have."""

    def read_name(self, user: str) -> str:
        """Return the name in the posted member ``user``; an empty string without one."""


@runtime_checkable
class OwnProtocolProvider(SocialProvider, Protocol):
    """A social provider whose parameters are not those of OAuth 2."""

    def authorization_url(self, config: Config, *, state: str, redirect_uri: str) -> str:
        """Return the URL to which browsers are redirected."""

    def redeem(self, config: Config, code: str) -> TokenResponse:
        """Exchange a code.

        Raises:
            ProviderError: the provider refuses the code, or its response is not valid.

        """
